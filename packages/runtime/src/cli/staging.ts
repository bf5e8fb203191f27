import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findLibc } from "../libc.js";
import { stagedFolder } from "./addons.js";
import { CommandFailure } from "./failures.js";
import type { InstalledPackage } from "./packages.js";

/** Moves what was built in the folder to its place in the package, and returns the addon's path. */
export function stage(installed: InstalledPackage, folder: string): string {
  const { names, manifest } = installed;
  const staged = stagedFolder(installed);
  const record = readFileSync(join(folder, "build/warpwright-build.json"), "utf8");
  const buildInfo = {
    ...(JSON.parse(record) as object),
    name: manifest.name,
    version: manifest.version,
    napi: manifest.binary!.napi_versions[0],
    glibc: findLibc().version, // what it was linked with; it may load on older ones
  };
  const addon = join(staged, `${names.short}.node`);
  try {
    mkdirSync(staged, { recursive: true });
    // By way of another name: programs may have the old file loaded, and pnpm's store shares it.
    copyFileSync(join(folder, "build/Release", `${names.short}.node`), `${addon}.new`);
    renameSync(`${addon}.new`, addon);
    const info = join(staged, "build-info.json");
    writeFileSync(`${info}.new`, `${JSON.stringify(buildInfo, null, 2)}\n`);
    renameSync(`${info}.new`, info);
  } catch (error) {
    const reason = (error as Error).message;
    throw new CommandFailure(
      `build: cannot write to ${staged}: ${reason}; run the command as the folder's owner`,
    );
  }
  return addon;
}
