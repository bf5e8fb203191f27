import { createRequire } from "node:module";
import { resolve } from "node:path";
import { listOf } from "./describe.js";
import { loadError } from "./errors.js";

// What the static CUDA runtime inside every addon needs.
const neededGlibc = "2.34";

/**
 * A function that gives a package's native addon, and loads it when first called: importing a
 * package works everywhere, using it says what is missing. `candidates` has, for each platform that
 * is prebuilt, a function around a literal `require`, which bundlers can trace.
 * WARPWRIGHT_<NAME>_NATIVE_PATH loads another file instead.
 *
 * @param name the kernel's name; the package is @warpwright/<name>, unless the name has a slash
 * @throws Error ERR_LOAD, from the returned function, with the platform, the cause and the remedy
 *
 * @example
 * import { createRequire } from "node:module";
 * import { loadAddon } from "@warpwright/runtime/kernel";
 *
 * const require = createRequire(import.meta.url);
 * const native = loadAddon<{ add(a: number, b: number): number }>("adder", {
 *   "linux-x64": () => require("../prebuilds/linux-x64/adder.node"),
 * });
 */
export function loadAddon<N>(
  name: string,
  candidates: Readonly<Record<string, () => unknown>>,
): () => N {
  let addon: N | undefined;
  return () => {
    addon ??= load(name, candidates) as N;
    return addon;
  };
}

function load(name: string, candidates: Readonly<Record<string, () => unknown>>): unknown {
  const shortName = name.slice(name.lastIndexOf("/") + 1);
  const packageName = name.includes("/") ? name : `@warpwright/${name}`;
  const platform = `${process.platform}-${process.arch}`;

  const upperName = shortName.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
  const variable = `WARPWRIGHT_${upperName}_NATIVE_PATH`;
  const override = process.env[variable];
  if (override !== undefined && override !== "") {
    return loadOverride(shortName, packageName, variable, override);
  }

  const candidate = Object.hasOwn(candidates, platform) ? candidates[platform] : undefined;
  if (candidate === undefined) {
    const others = listOf(Object.keys(candidates), "and");
    throw loadError(
      `${shortName}: ${packageName} has no prebuilt addon for ${platform}` +
        `${others === "" ? "" : `, only for ${others}`}, and needs a source build: ` +
        `run "npx @warpwright/runtime build ${packageName}"`,
    );
  }
  try {
    return candidate();
  } catch (cause) {
    throw loadError(
      `${shortName}: cannot load the addon of ${packageName} for ${platform}${glibcText()}: ` +
        `${firstLine(cause)}; to build it, run "npx @warpwright/runtime build ${packageName}"`,
      cause,
    );
  }
}

function loadOverride(name: string, packageName: string, variable: string, path: string): unknown {
  try {
    return createRequire(import.meta.url)(resolve(path));
  } catch (cause) {
    throw loadError(
      `${name}: cannot load the addon of ${packageName} that ${variable} names: ` +
        firstLine(cause),
      cause,
    );
  }
}

function glibcText(): string {
  if (process.platform !== "linux") return "";
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const found = report.header?.glibcVersionRuntime;
  const state = found === undefined ? "no glibc" : `glibc ${found}`;
  return ` (${state} found, ${neededGlibc} or later needed)`;
}

function firstLine(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.split("\n", 1)[0] ?? "";
}
