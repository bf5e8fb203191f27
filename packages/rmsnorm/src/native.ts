import { type Handle, loadAddon, type StreamHandle } from "@warpwright/runtime/kernel";

export interface Native {
  /** geometry: packRows([x, residual, out, residualOut], [weight, rstd]) */
  rmsnormFwd(
    x: Handle,
    residual: Handle | null,
    weight: Handle | null,
    out: Handle,
    residualOut: Handle | null,
    rstd: Handle | null,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
    weightDtype: number,
    eps: number,
    weightOffset: number,
    casting: number,
  ): void;
}

export const native = loadAddon<Native>("rmsnorm", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/rmsnorm.node", import.meta.url),
});
