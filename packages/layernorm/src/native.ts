import { type Handle, loadAddon, type StreamHandle } from "@warpwright/runtime/kernel";

export interface Native {
  /** geometry: packRows([x, residual, out, residualOut], [weight, bias, mean, rstd]) */
  layernormFwd(
    x: Handle,
    residual: Handle | null,
    weight: Handle | null,
    bias: Handle | null,
    out: Handle,
    residualOut: Handle | null,
    mean: Handle | null,
    rstd: Handle | null,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
    weightDtype: number,
    biasDtype: number,
    eps: number,
  ): void;
}

export const native = loadAddon<Native>("layernorm", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/layernorm.node", import.meta.url),
});
