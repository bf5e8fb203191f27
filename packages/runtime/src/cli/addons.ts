import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { whyNoAddon } from "../addon-file.js";
import { buildCommand, platformName } from "../addon-names.js";
import { describeFailure, type LoadFailure } from "../load-failure.js";
import type { InstalledPackage } from "./packages.js";

/** What a build writes beside its addon. */
export interface BuildInfo {
  version: string;
  cuda: boolean;
  nvcc: string | null;
  archs: readonly string[];
  /** The lowest that the addon loads on. */
  glibc: string;
}

export interface AddonState {
  path: string;
  /** null if it loads. */
  failure: LoadFailure | null;
  buildInfo: BuildInfo | null;
}

/** Where a package has, or would have, what was built for this platform. */
export function stagedFolder({ folder }: InstalledPackage): string {
  return join(folder, "prebuilds", platformName());
}

/** Tries to load a package's addon; null for a package that has none. */
export function tryAddon(installed: InstalledPackage): AddonState | null {
  const { names, manifest } = installed;
  if (manifest.binary === undefined) return null;
  const override = process.env[names.variable];
  const path = override ? resolve(override) : join(stagedFolder(installed), `${names.short}.node`);
  const problem = whyNoAddon(path) ?? whyNotLoaded(path);
  const buildInfo = readBuildInfo(dirname(path));
  if (problem === null) return { path, failure: null, buildInfo };
  if (override) {
    const remedy = `correct ${names.variable}, or remove it for the package's own addon`;
    return { path, failure: { reason: problem, remedy }, buildInfo };
  }
  const failure = existsSync(dirname(path))
    ? describeFailure(names, path, problem)
    : {
        reason: `there is no prebuilt addon for ${platformName()}`,
        remedy: `run "${buildCommand(names.packageName)}"`,
      };
  return { path, failure, buildInfo };
}

/** In a Node of its own: whatever an addon does there, this one goes on. */
function whyNotLoaded(path: string): string | null {
  const program = `
    try { require(process.argv[1]); }
    catch (error) { console.log(error.message); process.exit(3); }`;
  const { status, signal, stdout } = spawnSync(process.execPath, ["--eval", program, path], {
    encoding: "utf8",
  });
  if (status === 0) return null;
  if (status === 3) return stdout.split("\n", 1)[0]!;
  return `loading ${path} ends the program with ${signal ?? `exit code ${status}`}`;
}

export function readBuildInfo(folder: string): BuildInfo | null {
  try {
    return JSON.parse(readFileSync(join(folder, "build-info.json"), "utf8")) as BuildInfo;
  } catch {
    return null;
  }
}
