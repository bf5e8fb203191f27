import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AddonNames, buildCommand } from "./addon-names.js";
import { findLibc, neededGlibc } from "./libc.js";

/** Why an addon does not load, and what to do about it: two parts of a sentence. */
export interface LoadFailure {
  reason: string;
  remedy: string;
}

const glibcImages = "such as the images node:22-slim and node:22-bookworm";

/**
 * What failed in a package's own addon.
 *
 * @param path undefined where the package could not tell, which bundling makes of it
 */
export function describeFailure(
  names: AddonNames,
  path: string | undefined,
  cause: unknown,
): LoadFailure {
  const { packageName, variable } = names;
  const reason = firstLine(cause);
  const found = path === undefined ? null : packageAt(dirname(dirname(dirname(path))));
  if (found?.name !== packageName) {
    const external = `keep ${packageName} external`;
    return {
      reason: `${reason}, and this code is not in the package's own folder`,
      remedy: `where it was bundled, ${external}, or set ${variable} to the addon's path`,
    };
  }
  const build = `run "${buildCommand(packageName)}"`;
  if (findLibc().family === "musl") {
    return {
      reason: `musl has no CUDA, and the addon needs glibc ${neededGlibc} or later (${reason})`,
      remedy: `use a system with glibc, ${glibcImages}`,
    };
  }
  return (
    linkerFailure(reason, build) ?? {
      reason,
      remedy: `install ${packageName}@${found.version} again, or build it here: ${build}`,
    }
  );
}

/** The two things that glibc's loader says of an addon that is whole. */
function linkerFailure(message: string, build: string): LoadFailure | null {
  const version = /version `GLIBC_([\d.]+)' not found/.exec(message)?.[1];
  if (version !== undefined) {
    return {
      reason: `it needs glibc ${version}, and this system has ${findLibc().version} (${message})`,
      remedy: `use a newer system, or build it for this one: ${build}`,
    };
  }
  const library = /^(\S+): cannot open shared object file/.exec(message)?.[1];
  if (library !== undefined && !library.endsWith(".node")) {
    return {
      reason: `it needs the library ${library}, which the system does not find (${message})`,
      remedy: `install that library, or put its folder into LD_LIBRARY_PATH`,
    };
  }
  return null;
}

/** Name and version of the package in the folder; null if there is none. */
export function packageAt(folder: string): { name: string; version: string } | null {
  try {
    const text = readFileSync(join(folder, "package.json"), "utf8");
    return JSON.parse(text) as { name: string; version: string };
  } catch {
    return null;
  }
}

export function firstLine(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.split("\n", 1)[0] ?? "";
}
