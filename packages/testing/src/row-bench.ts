// What benchmarks of row-wise kernels have in common.
import { parseArgs } from "node:util";
import { type Device, defaultDevice, empty, randn, type Tensor } from "@warpwright/runtime";

import { type BenchCase, benchmark } from "./bench.js";
import { repeatedRows } from "./bench-inputs.js";
import { type FloatDType, valuesOf } from "./float64.js";
import { expectClose, tolerances } from "./tolerance.js";

/** Rows and the length of one. */
export type RowShape = readonly [rows: number, hiddenSize: number];

// On the GPU 64 MiB and more for each tensor, from rows of a fraction of a warp to rows of a
// cluster; the odd ones take the path without 16-byte access.
const gpuShapes: readonly RowShape[] = [
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
const cpuShapes: readonly RowShape[] = [
  [16_384, 768],
  [4096, 4096],
  [512, 32_768],
  [4096, 4095],
];

/** One set of tensors: inputs and outputs of the case's shape, parameters of one row's. */
export interface RowBuffers {
  inputs: readonly Tensor[];
  parameters: readonly Tensor[];
  outputs: readonly Tensor[];
}

/** A row-wise call to be measured. */
export interface RowBench {
  name: string;
  /** How many tensors it reads and writes. */
  inputs: number;
  parameters: number;
  outputs: number;
  /** What divides the rows that it takes. Default 1. */
  multipleOf?: number;
  /** One call, into the outputs. */
  run(buffers: RowBuffers): void;
  /** What the call has to leave in a row of each output, in float64, for rows of `dtype`. */
  expected(
    inputs: readonly Float64Array[],
    parameters: readonly Float64Array[],
    dtype: FloatDType,
  ): readonly ArrayLike<number>[];
}

/**
 * A case of a row-wise call for {@link benchmark}. Its first, middle and last row are verified.
 *
 * @example
 * import { benchmark, type RowBench, rowCase } from "@warpwright/testing";
 *
 * const copy: RowBench = {
 *   ...{ name: "copyFrom", inputs: 1, parameters: 0, outputs: 1 },
 *   run: ({ inputs: [x], outputs: [out] }) => void out!.copyFrom(x!),
 *   expected: ([x]) => [x!],
 * };
 * const cases = [rowCase(copy, [64, 1024], "float32")];
 * await benchmark("copy", cases, { rotateBytes: 4e6, windows: 3, windowMs: 1 });
 */
export function rowCase(
  bench: RowBench,
  shape: RowShape,
  dtype: FloatDType,
): BenchCase<RowBuffers> {
  const [rows, hiddenSize] = shape;
  const rowBytes = hiddenSize * (dtype === "float32" ? 4 : 2);
  return {
    ...{ name: bench.name, shape, dtype },
    // Inputs read and outputs written, the parameters once.
    bytes: ((bench.inputs + bench.outputs) * rows + bench.parameters) * rowBytes,
    setup: (index, device) => ({
      inputs: count(bench.inputs, (i) =>
        repeatedRows(shape, { seed: index + 1000 * i, dtype, device }),
      ),
      parameters: count(bench.parameters, (i) =>
        randn([hiddenSize], { seed: index + 1000 * i, dtype, device }),
      ),
      outputs: count(bench.outputs, () => empty(shape, { dtype, device })),
    }),
    run: (buffers) => bench.run(buffers),
    verify: (buffers) => verifyRows(bench, buffers, dtype),
    dispose({ inputs, parameters, outputs }) {
      for (const tensor of [...inputs, ...parameters, ...outputs]) tensor.dispose();
    },
  };
}

/**
 * A benchmark program of row-wise calls: bfloat16 at all shapes that a call takes, and the first
 * call in the other dtypes. Its arguments are `--device cpu|cuda:N` and `--json FILE`.
 *
 * @param title of the table
 * @example
 * import { benchmarkRows } from "@warpwright/testing";
 *
 * const program = () => benchmarkRows("copy", []); // with calls as rowCase has them
 */
export async function benchmarkRows(title: string, benches: readonly RowBench[]): Promise<void> {
  const { values } = parseArgs({
    options: { device: { type: "string" }, json: { type: "string" } },
  });
  const device = (values.device ?? defaultDevice()) as Device;
  const shapes = device === "cpu" ? cpuShapes : gpuShapes;
  const others = benches.slice(0, 1).flatMap((bench) => {
    const dtypes = ["float16", "float32"] as const;
    return dtypes.map((dtype) => rowCase(bench, [4096, 4096], dtype));
  });
  const cases = benches.flatMap((bench) =>
    shapes
      .filter(([, hiddenSize]) => hiddenSize % (bench.multipleOf ?? 1) === 0)
      .map((shape) => rowCase(bench, shape, "bfloat16")),
  );
  const json = values.json ? { json: values.json } : {};
  await benchmark(title, [...cases, ...others], { device, ...json });
}

function verifyRows(bench: RowBench, buffers: RowBuffers, dtype: FloatDType): void {
  const { inputs, parameters, outputs } = buffers;
  const rows = outputs[0]!.shape[0]!;
  for (const row of [0, rows >> 1, rows - 1]) {
    const rowOf = (tensor: Tensor) => valuesOf(tensor.narrow(0, row, 1));
    const wanted = bench.expected(inputs.map(rowOf), parameters.map(valuesOf), dtype);
    outputs.forEach((output, i) => {
      const name = `${bench.name}'s output ${i}`;
      expectClose(rowOf(output), wanted[i]!, { dtype, name, ...tolerances.roundedOnce[dtype] });
    });
  }
}

function count<T>(length: number, make: (i: number) => T): T[] {
  return Array.from({ length }, (_, i) => make(i));
}
