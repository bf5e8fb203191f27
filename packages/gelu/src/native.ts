import { type ElementwiseCall, loadAddon } from "@warpwright/runtime/kernel";

export interface Native {
  /** approximate: an index of "none", "tanh" and "quick" */
  geluFwd(...call: [...ElementwiseCall, approximate: number]): void;
}

export const native = loadAddon<Native>("gelu", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/gelu.node", import.meta.url),
});
