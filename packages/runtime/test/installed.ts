import { execFileSync, type SpawnSyncOptions, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = join(
  dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
  "bin/tsc",
);

/** A folder of a user who has installed the package. */
export interface Installed {
  folder: string;
  /** The installed package. */
  package: string;
  remove(): void;
}

export interface InstallOptions {
  /** Whether the package has its addon. */
  addon: boolean;
  /** How the folder's name begins. */
  prefix?: string;
}

/** Builds the package from its sources into the node_modules of a new folder. */
export function install({ addon, prefix = "warpwright-" }: InstallOptions): Installed {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const target = join(folder, "node_modules/@warpwright/runtime");
  mkdirSync(target, { recursive: true });
  cpSync(join(root, "package.json"), join(target, "package.json"));
  runTsc(["-p", join(root, "tsconfig.build.json"), "--outDir", join(target, "dist")]);
  if (addon) cpSync(join(root, "prebuilds"), join(target, "prebuilds"), { recursive: true });
  return { folder, package: target, remove: () => rmSync(folder, { recursive: true }) };
}

/** The compiler's output, which is empty when it has nothing to say. */
export function compile(args: readonly string[], folder: string): string {
  return spawnSync(process.execPath, [tsc, ...args], { cwd: folder, encoding: "utf8" }).stdout;
}

function runTsc(args: readonly string[]): void {
  execFileSync(process.execPath, [tsc, ...args], { stdio: "inherit" });
}

/** What a module printed, in a Node of its own. */
export interface Output {
  stdout: string;
  stderr: string;
  status: number | null;
}

/** Runs a module of the folder's user. */
export function runModule(
  { folder }: Installed,
  source: string,
  env: Record<string, string> = {},
  user: { uid?: number; gid?: number } = {},
): Output {
  return runNode(["--input-type=module", "-e", source], { cwd: folder, ...user }, env);
}

/** Runs a program that is in a file, from another folder. */
export function runFile(path: string, env: Record<string, string> = {}): Output {
  return runNode([path], { cwd: tmpdir() }, env);
}

function runNode(
  args: readonly string[],
  options: SpawnSyncOptions,
  env: Record<string, string>,
): Output {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    ...options,
    encoding: "utf8",
    env: { PATH: process.env.PATH ?? "", ...env },
  });
  return { stdout, stderr, status };
}
