import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AddonNames, addonNames } from "../addon-names.js";

export interface Manifest {
  name: string;
  version: string;
  peerDependencies?: Readonly<Record<string, string>>;
  devDependencies?: Readonly<Record<string, string>>;
  /** Of a package with an addon. */
  binary?: { napi_versions: readonly number[] };
}

export interface InstalledPackage {
  names: AddonNames;
  manifest: Manifest;
  /** Without symbolic links, which pnpm has on the way. */
  folder: string;
}

export const runtimeName = "@warpwright/runtime";

/** The runtime that this command is part of. */
export const ownFolder = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Every package of the scope that code in the folder can import, and each runtime that they use:
 * pnpm keeps that out of the folder's own node_modules. Without any, the runtime of this command.
 */
export function installedPackages(folder: string): InstalledPackage[] {
  const found = new Map<string, InstalledPackage>();
  const add = (path: string | null): void => {
    if (path === null) return;
    const each = readPackage(path);
    if (each !== null) found.set(each.folder, each);
  };
  const seen = new Set<string>();
  for (const scope of scopeFolders(folder)) {
    for (const name of readdirSync(scope).filter((each) => !each.startsWith("."))) {
      if (!seen.has(name)) add(join(scope, name));
      seen.add(name);
    }
  }
  for (const each of [...found.values()]) {
    if (each.manifest.peerDependencies?.[runtimeName]) add(findFrom(each.folder, runtimeName));
  }
  if (!hasRuntime(found.values())) add(ownFolder);
  return [...found.values()].sort((a, b) => compare(a.manifest.name, b.manifest.name));
}

/** The folder of a package that code in `folder` would import, or null. */
export function findFrom(folder: string, name: string): string | null {
  try {
    const from = createRequire(join(folder, "package.json"));
    return dirname(from.resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}

export function readPackage(path: string): InstalledPackage | null {
  const file = join(path, "package.json");
  if (!existsSync(file)) return null;
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest;
  return { names: addonNames(manifest.name), manifest, folder: realpathSync(path) };
}

/** Nearest first, as Node looks for packages. */
function scopeFolders(folder: string): string[] {
  const parents = [folder];
  while (dirname(parents.at(-1)!) !== parents.at(-1)) parents.push(dirname(parents.at(-1)!));
  return parents.map((each) => join(each, "node_modules/@warpwright")).filter(existsSync);
}

function hasRuntime(packages: Iterable<InstalledPackage>): boolean {
  return [...packages].some(({ manifest }) => manifest.name === runtimeName);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Of a range such as ">=0.1.0 <1.0.0", the form that kernels have for the runtime. */
export function satisfies(version: string, range: string): boolean {
  return range.split(" ").every((part) => {
    const [, sign, bound] = /^(>=|<)(\d+\.\d+\.\d+)$/.exec(part) ?? [];
    if (bound === undefined) return true;
    return isAtLeast(version, bound) === (sign === ">=");
  });
}

/** Compares versions of numbers and dots; what follows a hyphen does not count. */
export function isAtLeast(version: string, lowest: string): boolean {
  const [a, b] = [version, lowest].map((text) => text.split("-", 1)[0]!.split(".").map(Number));
  const at = b!.findIndex((number, i) => (a![i] ?? 0) !== number);
  return at < 0 || (a![at] ?? 0) > b![at]!;
}
