// What several scripts need: where the workspace is, running programs, finding them, and one way to
// fail. Parsed by whatever Node a user has, so that the check of its version can speak.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const repoRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");

/** The folder below prebuilds/ that this machine builds and loads. */
export const platformFolder = `${process.platform}-${process.arch}`;

/** What turbo hashes of this Node.js: tests that passed with one say nothing of another. */
export const hashedVariables = { WARPWRIGHT_NODE: process.versions.node.split(".")[0] };

/** A problem that one sentence explains: printed without a stack. */
export class Failure extends Error {}

/** Runs main and turns a Failure, or an unknown option, into one line on stderr and exit code 1. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    const explained = error instanceof Failure || error.code?.startsWith("ERR_PARSE_ARGS");
    if (!explained) throw error;
    console.error(`warpwright: ${error.message}`);
    process.exitCode = 1;
  }
}

/** Whether the module is the script that Node was started with. */
export function isMain(moduleUrl) {
  return (
    process.argv[1] !== undefined && fs.realpathSync(process.argv[1]) === fileURLToPath(moduleUrl)
  );
}

/** Runs a program with this terminal; a non-zero exit ends the script with the same code. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: "inherit", ...options });
  if (result.error) throw new Failure(`cannot run ${command}: ${result.error.message}`);
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** A program's output without the last newline, or null if it cannot be run or fails. */
export function capture(command, args, options = {}) {
  const result = spawnSync(command, args, {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
  return result.error || result.status !== 0 ? null : result.stdout.trimEnd();
}

/** The path of a program in one of the folders, or null. */
export function findProgram(name, folders = pathFolders()) {
  for (const folder of folders) {
    const file = path.join(folder, name);
    try {
      fs.accessSync(file, fs.constants.X_OK);
      if (fs.statSync(file).isFile()) return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/**
 * nvcc's path or null: CUDACXX alone if it is set (a word that is no program hides nvcc), else
 * CUDA_HOME, CUDA_PATH, PATH and the toolkit's usual folder.
 */
export function findNvcc() {
  const { CUDACXX, CUDA_HOME, CUDA_PATH } = process.env;
  if (CUDACXX) return findProgram(CUDACXX, path.isAbsolute(CUDACXX) ? ["/"] : pathFolders());
  const toolkits = [CUDA_HOME, CUDA_PATH].filter(Boolean).map((folder) => path.join(folder, "bin"));
  return findProgram("nvcc", [...toolkits, ...pathFolders(), "/usr/local/cuda/bin"]);
}

function pathFolders() {
  return (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
}

export function readJson(file) {
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

export function writeJson(file, value) {
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** The workspace's packages, as { folder, manifest }; the folders are relative to root. */
export function workspacePackages(root = repoRoot) {
  const lines = fs.readFileSync(path.join(root, "pnpm-workspace.yaml"), "utf8").split("\n");
  const parents = lines.map((line) => /^ {2}- (.+)\/\*$/.exec(line)?.[1]).filter(Boolean);
  return parents
    .filter((parent) => fs.existsSync(path.join(root, parent)))
    .flatMap((parent) => fs.readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}`))
    .filter((folder) => fs.existsSync(path.join(root, folder, "package.json")))
    .sort()
    .map((folder) => ({ folder, manifest: readJson(path.join(root, folder, "package.json")) }));
}

/** Files of these patterns that git knows or would add. */
export function sourceFiles(patterns, root = repoRoot) {
  const kinds = ["--cached", "--others", "--exclude-standard"];
  const names = capture("git", ["ls-files", "-z", ...kinds, "--", ...patterns], { cwd: root });
  if (names === null) throw new Failure("listing the sources needs a git checkout");
  const listed = names.split("\0").filter(Boolean);
  return listed.filter((name) => fs.existsSync(path.join(root, name)));
}

/** The published packages that are built with the headers, by the script they all share. */
export function nativePackages(root = repoRoot) {
  return workspacePackages(root).filter(
    ({ manifest }) => !manifest.private && manifest.scripts?.["build:native"],
  );
}

/** Names of the files in .changeset that wait for a release. */
export function pendingChangesets(root = repoRoot) {
  const names = fs.readdirSync(path.join(root, ".changeset"));
  return names.filter((name) => name.endsWith(".md") && name !== "README.md");
}

/** pnpm's catalog as a map, from the text of pnpm-workspace.yaml: the lines below `catalog:`. */
export function catalogVersions(
  text = fs.readFileSync(path.join(repoRoot, "pnpm-workspace.yaml"), "utf8"),
) {
  const [, lines = ""] = /^catalog:\n((?: +.*\n?)*)/m.exec(text) ?? [];
  return new Map(
    [...lines.matchAll(/^ +["']?([^"'\s]+?)["']?: *(\S+)/gm)].map((m) => [m[1], m[2]]),
  );
}

/** The last part of a package's name, which is also its addon's. */
export function addonName(manifest) {
  return manifest.name.split("/").at(-1);
}

/** Compares versions of numbers and dots. */
export function isAtLeast(version, lowest) {
  const [a, b] = [version, lowest].map((text) => text.split(".").map(Number));
  for (let i = 0; i < b.length; ++i) {
    if ((a[i] ?? 0) !== b[i]) return (a[i] ?? 0) > b[i];
  }
  return true;
}
