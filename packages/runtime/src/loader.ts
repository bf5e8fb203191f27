import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { openAddon } from "./addon-file.js";
import { type AddonNames, addonNames, buildCommand, platformName } from "./addon-names.js";
import { listOf } from "./describe.js";
import { loadError } from "./errors.js";
import { describeLibc } from "./libc.js";
import { describeFailure, firstLine } from "./load-failure.js";

/** What a `URL` is to this module, whose users may compile without Node's types. */
type Candidates = Readonly<Record<string, () => { readonly href: string }>>;

/**
 * A function that gives a package's native addon, and loads it when first called: importing a
 * package works everywhere, using it says what is missing. `candidates` has, for each platform that
 * is prebuilt, a function around a `new URL` of two literals, the form that bundlers and tracers of
 * files follow. WARPWRIGHT_<NAME>_NATIVE_PATH loads another file instead.
 *
 * @param name the kernel's name; the package is @warpwright/<name>, unless the name has a slash
 * @throws Error ERR_LOAD, from the returned function, with the platform, the cause and the remedy
 *
 * @example
 * import { loadAddon } from "@warpwright/runtime/kernel";
 *
 * const native = loadAddon<{ add(a: number, b: number): number }>("adder", {
 *   "linux-x64": () => new URL("../prebuilds/linux-x64/adder.node", import.meta.url),
 * });
 */
export function loadAddon<N>(name: string, candidates: Candidates): () => N {
  const names = addonNames(name);
  let addon: N | undefined;
  return () => {
    addon ??= load(names, candidates) as N;
    return addon;
  };
}

function load(names: AddonNames, candidates: Candidates): unknown {
  const override = process.env[names.variable];
  if (override !== undefined && override !== "") return loadOverride(names, override);
  let path: string | undefined;
  try {
    path = findAddon(names, candidates);
    if (path !== undefined) return openAddon(path);
  } catch (cause) {
    const { reason, remedy } = describeFailure(names, path, cause);
    const libc = describeLibc();
    const machine = libc === "" ? platformName() : `${platformName()} (${libc})`;
    const failed = `cannot load the addon of ${names.packageName} for ${machine}`;
    throw loadError(`${names.short}: ${failed}: ${reason}; ${remedy}`, cause);
  }
  throw notPrebuilt(names, Object.keys(candidates));
}

/** The prebuilt addon, or on other platforms the one that was built on this machine, if any. */
function findAddon({ short }: AddonNames, candidates: Candidates): string | undefined {
  const platform = platformName();
  if (Object.hasOwn(candidates, platform)) return fileURLToPath(candidates[platform]!().href);
  const [other] = Object.values(candidates);
  if (other === undefined) return undefined;
  const built = fileURLToPath(new URL(`../${platform}/${short}.node`, other().href));
  return existsSync(built) ? built : undefined;
}

function notPrebuilt({ short, packageName }: AddonNames, platforms: readonly string[]): Error {
  const others = platforms.length === 0 ? "" : `, only for ${listOf(platforms, "and")}`;
  return loadError(
    `${short}: ${packageName} has no prebuilt addon for ${platformName()}${others}, and needs a ` +
      `source build: run "${buildCommand(packageName)}"`,
  );
}

function loadOverride({ short, packageName, variable }: AddonNames, path: string): unknown {
  try {
    return openAddon(resolve(path));
  } catch (cause) {
    throw loadError(
      `${short}: cannot load the addon of ${packageName} that ${variable} names: ` +
        `${firstLine(cause)}; correct the variable, or remove it for the package's own addon`,
      cause,
    );
  }
}
