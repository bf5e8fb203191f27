// What every package's vitest.config.ts exports. Forks, because an addon that crashes must take
// down one test file and not the run; and skipped tests are listed, because a run without a GPU
// that looks like a full one has misled people.
import { configDefaults, defineConfig } from "vitest/config";
import { SkipReporter } from "./skip-reporter.js";

export const preset = defineConfig({
  test: {
    pool: "forks",
    include: ["test/**/*.test.ts"],
    // What runs under compute-sanitizer (tooling/scripts/sanitize.mjs) repeats other tests.
    exclude: [
      ...configDefaults.exclude,
      ...(process.env["WARPWRIGHT_SANITIZE"] === "1" ? [] : ["test/sanitized.test.ts"]),
    ],
    testTimeout: 60_000,
    reporters: ["default", new SkipReporter()],
  },
});
