// What every package's vitest.config.ts exports. Forks, because an addon that crashes must take
// down one test file and not the run; and skipped tests are listed, because a run without a GPU
// that looks like a full one has misled people.
import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import { emulatedAddons, isEmulated } from "./emulated.js";
import { SkipReporter } from "./skip-reporter.js";

// What runs under compute-sanitizer (tooling/scripts/sanitize.mjs) repeats other tests.
const withSanitized = Boolean(process.env["WARPWRIGHT_SANITIZE"]); // the tool's name

export interface PresetOptions {
  /** Names of the suites that `npm run test:emulated` runs: minutes, on two cores. */
  emulated?: readonly string[];
  /**
   * Those of them that look at values alone. All of that command leaves them out in the asan build:
   * AddressSanitizer sees memory, and theirs lies and is shared out as the sanitized and layouts
   * suites' is.
   */
  values?: readonly string[];
}

export function presetWith({ emulated = [], values = [] }: PresetOptions): ViteUserConfig {
  const allSuites = ["test/**/*.test.ts"];
  const suites = process.env["WARPWRIGHT_EMULATOR_SUITES"];
  const chosen = emulated
    .filter((name) => suites !== "memory" || !values.includes(name))
    .map((name) => `test/${name}.test.ts`);
  const all = !isEmulated || suites === "all";
  const excluded = isEmulated || withSanitized ? [] : ["test/sanitized.test.ts"];
  return defineConfig({
    test: {
      pool: "forks",
      include: all ? allSuites : chosen,
      exclude: [...configDefaults.exclude, ...excluded],
      env: isEmulated ? emulatedAddons() : {},
      testTimeout: 60_000,
      hookTimeout: 60_000, // some compile the package
      // What a passing test prints, as those that run the documentation's examples do, is noise.
      silent: "passed-only",
      reporters: ["default", new SkipReporter()],
    },
  });
}

export const preset = presetWith({});
