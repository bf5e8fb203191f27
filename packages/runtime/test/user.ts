// The folder of a user who has installed the runtime: the package's command, and kernels beside it.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Installed, Output } from "./installed.js";
import { addonOf, platform } from "./planted-addons.js";

/** npx @warpwright/runtime, whose environment has PATH alone beside what is given. */
export function runCommand(
  installed: Installed,
  args: readonly string[],
  env: Record<string, string> = {},
): Output {
  const cli = join(installed.package, "dist/cli/main.js");
  const { stdout, stderr, status } = spawnSync(process.execPath, [cli, ...args], {
    cwd: installed.folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...env },
  });
  return { stdout, stderr, status };
}

/** Removes all packages but the runtime. */
export function removeOthers({ folder }: Installed): void {
  const scope = join(folder, "node_modules/@warpwright");
  for (const name of readdirSync(scope)) {
    if (name !== "runtime") rmSync(join(scope, name), { recursive: true });
  }
}

export interface KernelOptions {
  /** Of the runtime. */
  range?: string;
  /** Whether it has one: a copy of the runtime's. */
  addon?: boolean;
  /** The version of the headers that it says it was built with. */
  headers?: string;
}

/** Adds a package of the scope, and returns its folder. */
export function plantKernel(
  installed: Installed,
  name: string,
  { range = ">=0.1.0 <1.0.0", addon = true, headers = "0.1.0" }: KernelOptions = {},
): string {
  const folder = join(installed.folder, "node_modules/@warpwright", name);
  const manifest = {
    name: `@warpwright/${name}`,
    version: "0.3.1",
    peerDependencies: { "@warpwright/runtime": range },
    devDependencies: { "@warpwright/headers": headers },
    binary: { napi_versions: [9] },
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  if (!addon) return folder;
  const staged = join(folder, "prebuilds", platform);
  mkdirSync(staged, { recursive: true });
  cpSync(addonOf(installed), join(staged, `${name}.node`));
  return folder;
}
