import { type Handle, loadAddon, type StreamHandle } from "@warpwright/runtime/kernel";

export interface Native {
  /** geometry: packAttention of geometry.ts; a negative or huge window is none. */
  attentionFwd(
    q: Handle,
    k: Handle,
    v: Handle,
    out: Handle,
    lse: Handle | null,
    mask: Handle | null,
    sinks: Handle | null,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
    outDtype: number,
    maskDtype: number,
    windowLeft: number,
    windowRight: number,
    softmaxScale: number,
    softcap: number,
  ): void;
  /** geometry: packMerge of geometry.ts */
  mergeFwd(
    outA: Handle,
    lseA: Handle,
    outB: Handle,
    lseB: Handle,
    out: Handle,
    lse: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
  ): void;
}

export const native = loadAddon<Native>("attention", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/attention.node", import.meta.url),
});
