// npm run bench -- new-kernel [--device cpu|cuda:N] [--json FILE]
import { parseArgs } from "node:util";
import { newKernel } from "@warpwright/new-kernel";
import { type Device, defaultDevice, empty, randn, type Tensor } from "@warpwright/runtime";
import {
  type BenchCase,
  benchmark,
  expectClose,
  type FloatDType,
  tolerances,
  valuesOf,
} from "@warpwright/testing";
import { newKernelReference } from "../test/reference.js";

interface Buffers {
  x: Tensor;
  out: Tensor;
}

type Shape = readonly [rows: number, hiddenSize: number];

// On the GPU 64 MiB and more for each tensor, from rows of a fraction of a warp to rows of a
// cluster; the odd ones take the path without 16-byte access.
const gpuShapes: readonly Shape[] = [
  [131_072, 256],
  [32_768, 4096],
  [4096, 32_768],
  [1024, 131_072],
  [32_768, 4095],
];
const cpuShapes: readonly Shape[] = [
  [16_384, 768],
  [4096, 4096],
  [512, 32_768],
  [4096, 4095],
];

function makeCase([rows, hiddenSize]: Shape, dtype: FloatDType): BenchCase<Buffers> {
  const shape = [rows, hiddenSize];
  return {
    name: "newKernel",
    shape,
    dtype,
    // x read and out written.
    bytes: 2 * rows * hiddenSize * (dtype === "float32" ? 4 : 2),
    setup: (seed, device) => ({
      x: randn(shape, { seed, dtype, device }),
      out: empty(shape, { dtype, device }),
    }),
    run: ({ x, out }) => void newKernel(x, { out }),
    verify({ x, out }) {
      for (const row of [0, rows >> 1, rows - 1]) {
        const [found, given] = [out, x].map((tensor) => valuesOf(tensor.narrow(0, row, 1)));
        const wanted = newKernelReference(given!, hiddenSize).out;
        expectClose(found!, wanted, { dtype, name: "out", ...tolerances.roundedOnce[dtype] });
      }
    },
    dispose({ x, out }) {
      x.dispose();
      out.dispose();
    },
  };
}

const { values } = parseArgs({
  options: { device: { type: "string" }, json: { type: "string" } },
});
const device = (values.device ?? defaultDevice()) as Device;
const cases = [
  ...(device === "cpu" ? cpuShapes : gpuShapes).map((shape) => makeCase(shape, "bfloat16")),
  ...(["float16", "float32"] as const).map((dtype) => makeCase([4096, 4096], dtype)),
];
await benchmark("new-kernel", cases, { device, ...(values.json ? { json: values.json } : {}) });
