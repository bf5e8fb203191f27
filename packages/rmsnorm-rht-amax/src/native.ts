import { type Handle, loadAddon, type StreamHandle } from "@warpwright/runtime/kernel";

export interface Native {
  /** geometry: packRows([x, out], [weight, amax]); numThreads: 0 for any number */
  rmsnormRhtAmaxFwd(
    x: Handle,
    weight: Handle,
    out: Handle,
    amax: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
    weightDtype: number,
    rowsPerCta: number,
    numThreads: number,
    eps: number,
    signs: number,
    ignoreNan: number,
  ): void;
}

export const native = loadAddon<Native>("rmsnorm-rht-amax", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/rmsnorm-rht-amax.node", import.meta.url),
});
