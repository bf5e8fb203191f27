import { type GatedCall, loadAddon } from "@warpwright/runtime/kernel";

export interface Native {
  newKernelFwd(...call: GatedCall): void;
}

export const native = loadAddon<Native>("new-kernel", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/new-kernel.node", import.meta.url),
});
