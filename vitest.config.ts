// For runs over the whole workspace, by file name or -t, and without turbo on a machine that was
// handed the built files: node node_modules/vitest/vitest.mjs run
import { defineConfig } from "vitest/config";
import { SkipReporter } from "./tooling/vitest/skip-reporter.js";

export default defineConfig({
  test: {
    projects: [
      "packages/*/vitest.config.ts",
      "tooling/*/vitest.config.ts",
      "docs/examples/*/vitest.config.ts",
    ],
    reporters: ["default", new SkipReporter()],
  },
});
