// npm run bench -- rmsnorm [--device cpu|cuda:N] [--json FILE]
import { parseArgs } from "node:util";
import { addRmsnorm, rmsnorm } from "@warpwright/rmsnorm";
import { type Device, defaultDevice, empty, randn, type Tensor } from "@warpwright/runtime";
import {
  type BenchCase,
  benchmark,
  expectClose,
  type FloatDType,
  repeatedRows,
  tolerances,
  valuesOf,
} from "@warpwright/testing";
import { rmsnormReference } from "../test/reference.js";

interface Buffers {
  x: Tensor;
  residual: Tensor | null;
  weight: Tensor;
  out: Tensor;
  residualOut: Tensor | null;
}

// Rows x hidden size. On the GPU 64 MiB and more for each tensor, from rows of a fraction of a warp
// to rows of a cluster; the odd ones take the path without 16-byte access.
const gpuShapes: readonly (readonly [number, number])[] = [
  [131_072, 256],
  [32_768, 768],
  [65_536, 1024],
  [32_768, 2048],
  [32_768, 4096],
  [16_384, 8192],
  [8192, 16_384],
  [4096, 32_768],
  [2048, 65_536],
  [1024, 131_072],
  [32_768, 4095],
  [32_768, 4100],
];
const cpuShapes: readonly (readonly [number, number])[] = [
  [16_384, 768],
  [4096, 4096],
  [512, 32_768],
  [4096, 4095],
];

function makeCase(
  shape: readonly [number, number],
  dtype: FloatDType,
  fused: boolean,
): BenchCase<Buffers> {
  const [rows, hiddenSize] = shape;
  const rowBytes = hiddenSize * (dtype === "float32" ? 4 : 2);
  return {
    name: fused ? "addRmsnorm" : "rmsnorm",
    shape,
    dtype,
    // x read and out written, with a residual one more of each; the weight once.
    bytes: (fused ? 4 : 2) * rows * rowBytes + rowBytes,
    setup: (seed, device) => ({
      x: repeatedRows(shape, { seed, dtype, device }),
      residual: fused ? repeatedRows(shape, { seed: seed + 1000, dtype, device }) : null,
      weight: randn([hiddenSize], { seed, dtype, device }),
      out: empty(shape, { dtype, device }),
      residualOut: fused ? empty(shape, { dtype, device }) : null,
    }),
    run({ x, residual, weight, out, residualOut }) {
      if (residual === null) rmsnorm(x, weight, { out });
      else addRmsnorm(x, residual, weight, { out, residualOut: residualOut! });
    },
    verify: (buffers) => verifyRows(buffers, dtype),
    dispose(buffers) {
      for (const tensor of Object.values(buffers) as (Tensor | null)[]) tensor?.dispose();
    },
  };
}

function verifyRows({ x, residual, weight, out, residualOut }: Buffers, dtype: FloatDType): void {
  const [rows, hiddenSize] = x.shape as [number, number];
  const weights = valuesOf(weight);
  for (const row of [0, rows >> 1, rows - 1]) {
    const rowOf = (tensor: Tensor) => valuesOf(tensor.narrow(0, row, 1));
    const wanted = rmsnormReference(rowOf(x), weights, hiddenSize, dtype, {
      residual: residual ? rowOf(residual) : undefined,
    });
    expectClose(rowOf(out), wanted.out, { dtype, name: "out", ...tolerances.roundedOnce[dtype] });
    if (residualOut) {
      expectClose(rowOf(residualOut), wanted.sum, { dtype, name: "residualOut", ulps: 0 });
    }
  }
}

const { values } = parseArgs({
  options: { device: { type: "string" }, json: { type: "string" } },
});
const device = (values.device ?? defaultDevice()) as Device;
const shapes = device === "cpu" ? cpuShapes : gpuShapes;
const cases = [
  ...shapes.map((shape) => makeCase(shape, "bfloat16", false)),
  ...shapes.map((shape) => makeCase(shape, "bfloat16", true)),
  ...(["float16", "float32"] as const).map((dtype) => makeCase([4096, 4096], dtype, false)),
];
await benchmark("rmsnorm", cases, { device, ...(values.json ? { json: values.json } : {}) });
