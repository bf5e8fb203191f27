// WARPWRIGHT_CUDA=emulated runs the suites on the CUDA emulator (tooling/cuda-emulator): the addons
// that `npm run test:emulated` builds are loaded in place of the usual ones.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** For tests at sizes that suit a GPU alone. */
export const isEmulated = process.env["WARPWRIGHT_CUDA"] === "emulated";

/** check, or asan, which needs AddressSanitizer preloaded. */
const build = process.env["WARPWRIGHT_EMULATOR_CHECK"] || "check";

const repoRoot = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The variables by which the loader finds the emulated addons; those that are set stay. Freed
 * blocks are not kept for the next allocation, so that a use after the free is found.
 */
export function emulatedAddons(): Record<string, string> {
  const manifests = ["packages", "tooling"].flatMap((group) =>
    readdirSync(join(repoRoot, group)).map((name) => join(repoRoot, group, name, "package.json")),
  );
  const addons = manifests
    .filter(existsSync)
    .filter(hasEmulatedBuild)
    .map((manifest) => {
      const name = basename(dirname(manifest));
      const variable = `WARPWRIGHT_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}_NATIVE_PATH`;
      const platform = `${process.platform}-${process.arch}`;
      const staged = join(dirname(manifest), "prebuilds-emulated", build, platform);
      return [variable, process.env[variable] || join(staged, `${name}.node`)];
    });
  const cache = ["WARPWRIGHT_BLOCK_CACHE", process.env["WARPWRIGHT_BLOCK_CACHE"] || "0"];
  return Object.fromEntries([...addons, cache]);
}

function hasEmulatedBuild(manifest: string): boolean {
  const { scripts } = JSON.parse(readFileSync(manifest, "utf8")) as {
    scripts?: Record<string, string>;
  };
  return scripts?.["build:emulated"] !== undefined;
}
