import { type GatedCall, loadAddon } from "@warpwright/runtime/kernel";

export interface Native {
  swigluFwd(...call: [...GatedCall, limit: number, alpha: number, upOffset: number]): void;
}

export const native = loadAddon<Native>("swiglu", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/swiglu.node", import.meta.url),
});
