import { type ElementwiseCall, loadAddon } from "@warpwright/runtime/kernel";

export interface Native {
  newKernelFwd(...call: [...ElementwiseCall, beta: number]): void;
}

export const native = loadAddon<Native>("new-kernel", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/new-kernel.node", import.meta.url),
});
