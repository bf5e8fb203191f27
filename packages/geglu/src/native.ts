import { type GatedCall, loadAddon } from "@warpwright/runtime/kernel";

export interface Native {
  /** approximate: an index of "none", "tanh" and "quick" */
  gegluFwd(...call: [...GatedCall, approximate: number]): void;
}

export const native = loadAddon<Native>("geglu", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/geglu.node", import.meta.url),
});
