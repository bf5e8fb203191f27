import { createRequire } from "node:module";
import { type ElementwiseCall, loadAddon } from "@warpwright/runtime/kernel";

const require = createRequire(import.meta.url);

export interface Native {
  /** approximate: an index of "none", "tanh" and "quick" */
  geluFwd(...call: [...ElementwiseCall, approximate: number]): void;
}

export const native = loadAddon<Native>("gelu", {
  "linux-x64": () => require("../prebuilds/linux-x64/gelu.node"),
});
