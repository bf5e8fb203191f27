import { createRequire } from "node:module";
import { type GatedCall, loadAddon } from "@warpwright/runtime/kernel";

const require = createRequire(import.meta.url);

export interface Native {
  /** approximate: an index of "none", "tanh" and "quick" */
  gegluFwd(...call: [...GatedCall, approximate: number]): void;
}

export const native = loadAddon<Native>("geglu", {
  "linux-x64": () => require("../prebuilds/linux-x64/geglu.node"),
});
