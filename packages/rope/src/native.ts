import { type Handle, loadAddon, type StreamHandle } from "@warpwright/runtime/kernel";

export interface Native {
  /** geometry: see packGeometry; index: the positions or cuSeqlens, by indexKind. */
  ropeFwd(
    q: Handle,
    k: Handle | null,
    qOut: Handle,
    kOut: Handle | null,
    cos: Handle,
    sin: Handle,
    index: Handle | null,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
    tableDtype: number,
    indexKind: number,
    indexIsWide: number,
    offset: number,
    interleaved: number,
    inverse: number,
  ): void;
}

export const native = loadAddon<Native>("rope", {
  "linux-x64": () => new URL("../prebuilds/linux-x64/rope.node", import.meta.url),
});
