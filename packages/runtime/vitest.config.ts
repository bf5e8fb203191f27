import { fileURLToPath } from "node:url";
import { mergeConfig } from "vitest/config";
import { preset } from "../../tooling/vitest/preset.js";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// The sources under the package's own names, so that examples run as users write them.
export default mergeConfig(preset, {
  resolve: {
    alias: [
      { find: /^@warpwright\/runtime\/kernel$/, replacement: source("src/kernel/index.ts") },
      { find: /^@warpwright\/runtime$/, replacement: source("src/index.ts") },
    ],
  },
});
