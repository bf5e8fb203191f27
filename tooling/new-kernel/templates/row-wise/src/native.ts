import { type Handle, loadAddon, type StreamHandle } from "@warpwright/runtime/kernel";

export interface Native {
  /** geometry: packRows([x, out], [inverse]) */
  newKernelFwd(
    x: Handle,
    out: Handle,
    inverse: Handle | null,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
    eps: number,
  ): void;
}

export const native = loadAddon<Native>("new-kernel", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/new-kernel.node", import.meta.url),
});
