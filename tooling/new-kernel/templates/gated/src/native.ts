import { createRequire } from "node:module";
import { type GatedCall, loadAddon } from "@warpwright/runtime/kernel";

const require = createRequire(import.meta.url);

export interface Native {
  newKernelFwd(...call: GatedCall): void;
}

export const native = loadAddon<Native>("new-kernel", {
  "linux-x64": () => require("../prebuilds/linux-x64/new-kernel.node"),
});
