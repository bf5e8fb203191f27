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

type Shape = readonly [rows: number, columns: number];

// On the GPU 64 MiB and more for each tensor; dense rows are one long row.
const gpuShapes: readonly Shape[] = [
  [32_768, 4096],
  [32_768, 4095],
];
const cpuShapes: readonly Shape[] = [
  [4096, 4096],
  [4096, 4095],
];

function makeCase([rows, columns]: Shape, dtype: FloatDType): BenchCase<Buffers> {
  const shape = [rows, columns];
  return {
    name: "newKernel",
    shape,
    dtype,
    // x read and out written.
    bytes: 2 * rows * columns * (dtype === "float32" ? 4 : 2),
    setup: (seed, device) => ({
      x: randn(shape, { seed, dtype, device }),
      out: empty(shape, { dtype, device }),
    }),
    run: ({ x, out }) => void newKernel(x, { out }),
    verify({ x, out }) {
      for (const row of [0, rows >> 1, rows - 1]) {
        const [found, given] = [out, x].map((tensor) => valuesOf(tensor.narrow(0, row, 1)));
        const wanted = given!.map((value) => newKernelReference(value));
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
