import { createRequire } from "node:module";
import { type GatedCall, loadAddon } from "@warpwright/runtime/kernel";

const require = createRequire(import.meta.url);

export interface Native {
  swigluFwd(...call: [...GatedCall, limit: number, alpha: number, upOffset: number]): void;
}

export const native = loadAddon<Native>("swiglu", {
  "linux-x64": () => require("../prebuilds/linux-x64/swiglu.node"),
});
