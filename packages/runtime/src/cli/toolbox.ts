import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CommandFailure } from "./failures.js";
import { findFrom, type InstalledPackage, readPackage } from "./packages.js";

const headersName = "@warpwright/headers";

/** What packages are built with, and is not in them. */
export interface Toolbox {
  /** The folder of @warpwright/headers. */
  headers: string;
  /** cmake-js's program. */
  cmakeJs: string;
}

/**
 * The headers that the package was made with, and what they depend on: from the project's own
 * dependencies, else from the user's cache folder, where npm puts them if that is allowed.
 */
export function findToolbox(installed: InstalledPackage, { fetch }: { fetch: boolean }): Toolbox {
  const { name, devDependencies } = installed.manifest;
  const version = devDependencies?.[headersName];
  if (version === undefined) throw new CommandFailure(`build: ${name} names no ${headersName}`);
  const spec = `${headersName}@${version}`;
  const cache = join(cacheFolder(), `headers-${version.replaceAll(/[^\w.-]/g, "_")}`);
  const found = headersFrom(process.cwd(), version) ?? headersFrom(cache, version);
  if (found !== null) return toolboxAt(found);
  if (!fetch) {
    throw new CommandFailure(
      `build: ${name} is built with ${spec}, which is not here; run ` +
        `"npm install --save-dev ${spec}", or give --yes to have it fetched into ${cache}`,
    );
  }
  fetchInto(cache, spec);
  const fetched = headersFrom(cache, version);
  if (fetched === null) throw new CommandFailure(`build: ${spec} is not in ${cache} after all`);
  return toolboxAt(fetched);
}

/** A package of others may name a range, which npm has then resolved. */
function headersFrom(folder: string, version: string): string | null {
  const found = findFrom(folder, headersName);
  const headers = found && readPackage(found);
  if (!headers) return null;
  const exact = /^\d+\.\d+\.\d+/.test(version);
  return !exact || headers.manifest.version === version ? headers.folder : null;
}

function toolboxAt(headers: string): Toolbox {
  const file = createRequire(join(headers, "package.json")).resolve("cmake-js/package.json");
  const { bin } = JSON.parse(readFileSync(file, "utf8")) as { bin: Record<string, string> };
  return { headers, cmakeJs: join(dirname(file), bin["cmake-js"]!) };
}

/** Of this user: what was fetched, and where builds are made. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "warpwright");
}

function fetchInto(folder: string, spec: string): void {
  console.log(`fetching ${spec} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { error, status } = spawnSync("npm", ["install", "--prefix", folder, ...flags, spec], {
    cwd: folder,
    stdio: "inherit",
  });
  if (error) throw new CommandFailure(`build: npm, which fetches ${spec}, cannot be run`);
  if (status !== 0) throw new CommandFailure(`build: npm could not fetch ${spec}`);
}
