import { createRequire } from "node:module";
import { type ElementwiseCall, loadAddon } from "@warpwright/runtime/kernel";

const require = createRequire(import.meta.url);

export interface Native {
  newKernelFwd(...call: [...ElementwiseCall, beta: number]): void;
}

export const native = loadAddon<Native>("new-kernel", {
  "linux-x64": () => require("../prebuilds/linux-x64/new-kernel.node"),
});
