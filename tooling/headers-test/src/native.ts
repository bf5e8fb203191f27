import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { type Handle, loadAddon, type StreamHandle } from "@warpwright/runtime/kernel";

const require = createRequire(import.meta.url);

/** csrc/binding.cc documents the geometries. */
export interface Native {
  convert(
    src: Handle,
    dst: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
    conversion: number,
    srcDtype: number,
    dstDtype: number,
  ): void;
  vec(
    src: Handle,
    dst: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
    count: number,
    fill: number,
    load: number,
    store: number,
  ): void;
  reduce(
    x: Handle,
    out: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
    op: number,
    scope: number,
  ): void;
  elementwise(
    x: Handle,
    out: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
  ): void;
  reverse(x: Handle, out: Handle, stream: StreamHandle | null, geometry: Float64Array): void;
  /** Microseconds of one of `count` launches of an empty kernel, or a graph of `nodes` of them. */
  timeLaunches(x: Handle, stream: StreamHandle | null, count: number, nodes: number): number;
  copyAsync(
    x: Handle,
    out: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
    whole: number,
    grouped: number,
  ): void;
  pipeline(x: Handle, out: Handle, stream: StreamHandle | null, geometry: Float64Array): void;
  ldmatrix(
    x: Handle,
    out: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
    transposed: number,
  ): void;
  approx(
    x: Handle,
    powers: Handle,
    reciprocals: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
  ): void;
  mma(
    a: Handle,
    b: Handle,
    c: Handle,
    out: Handle,
    stream: StreamHandle | null,
    geometry: Float64Array,
    dtype: number,
    fragments: number,
  ): void;
  /** An object with a tensor handle's tag, on the CPU and without memory, whose struct says so. */
  forgeHandle(magic: number, major: number, minor: number): Handle;
}

// By name: the benchmark's compiled copy of this file is in another folder.
const prebuilds = "@warpwright/headers-test/prebuilds/linux-x64";

export const native = loadAddon<Native>("headers-test", {
  "linux-x64": () => pathToFileURL(require.resolve(`${prebuilds}/headers-test.node`)),
})();
