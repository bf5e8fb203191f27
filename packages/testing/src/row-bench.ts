// What benchmarks of kernels have in common that take tensors row by row, or element by element.
import { parseArgs } from "node:util";
import { type Device, defaultDevice, empty, randn, type Tensor } from "@warpwright/runtime";

import { type BenchCase, benchmark } from "./bench.js";
import { repeatedRows } from "./bench-inputs.js";
import { type FloatDType, valuesOf } from "./float64.js";
import { expectClose, tolerances } from "./tolerance.js";

/** Rows and the length of one in an output. */
export type RowShape = readonly [rows: number, hiddenSize: number];

// On the GPU 64 MiB and more for each tensor, from rows of a fraction of a warp to rows of a
// cluster; the odd ones take the path without 16-byte access.
const rowShapes: Shapes = {
  cuda: [
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
  ],
  cpu: [
    [16_384, 768],
    [4096, 4096],
    [512, 32_768],
    [4096, 4095],
  ],
};

// Widths as models have them, dense rows that are one long row, an odd width, whose packed gate and
// up lie differently to 16 bytes, and a batch of few tokens.
const elementwiseShapes: Shapes = {
  cuda: [
    [16_384, 16_384],
    [16_384, 11_008],
    [8192, 14_336],
    [8192, 4095],
    [128, 14_336],
  ],
  cpu: [
    [4096, 4096],
    [4096, 4095],
  ],
};

interface Shapes {
  cuda: readonly RowShape[];
  cpu: readonly RowShape[];
}

/** One set of tensors: inputs and outputs of the case's rows, parameters of one row's length. */
export interface RowBuffers {
  inputs: readonly Tensor[];
  parameters: readonly Tensor[];
  outputs: readonly Tensor[];
}

/** A row-wise or element-wise call to be measured. */
export interface RowBench {
  name: string;
  /** A number for each tensor that it reads: its row's length in rows of an output. */
  inputs: readonly number[];
  /** How many tensors of one row it reads. Default 0. */
  parameters?: number;
  /** How many tensors it writes. Default 1. */
  outputs?: number;
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
 * A case of such a call for {@link benchmark}. Its first, middle and last row are verified.
 *
 * @example
 * import { benchmark, type RowBench, rowCase } from "@warpwright/testing";
 *
 * const copy: RowBench = {
 *   name: "copyFrom",
 *   inputs: [1],
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
  const { name, inputs, parameters = 0, outputs = 1 } = bench;
  const [rows, size] = shape;
  const rowBytes = size * (dtype === "float32" ? 4 : 2);
  const widths = inputs.reduce((sum, width) => sum + width, outputs);
  return {
    ...{ name, shape, dtype },
    // Inputs read and outputs written, the parameters once.
    bytes: (widths * rows + parameters) * rowBytes,
    setup: (index, device) => ({
      inputs: inputs.map((width, i) =>
        repeatedRows([rows, width * size], { seed: index + 1000 * i, dtype, device }),
      ),
      parameters: count(parameters, (i) =>
        randn([size], { seed: index + 1000 * i, dtype, device }),
      ),
      outputs: count(outputs, () => empty(shape, { dtype, device })),
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
  await runProgram(title, rowShapes, (shapes) => {
    const others = benches.slice(0, 1).flatMap((bench) => {
      const dtypes = ["float16", "float32"] as const;
      return dtypes.map((dtype) => rowCase(bench, [4096, 4096], dtype));
    });
    const cases = benches.flatMap((bench) =>
      shapes
        .filter(([, hiddenSize]) => hiddenSize % (bench.multipleOf ?? 1) === 0)
        .map((shape) => rowCase(bench, shape, "bfloat16")),
    );
    return [...cases, ...others];
  });
}

/**
 * A benchmark program of element-wise calls: bfloat16 and float32 at all shapes, float16 at
 * the first.
 * Its arguments are those of {@link benchmarkRows}.
 *
 * @param title of the table
 * @example
 * import { benchmarkElementwise } from "@warpwright/testing";
 *
 * const program = () => benchmarkElementwise("copy", []); // with calls as rowCase has them
 */
export async function benchmarkElementwise(
  title: string,
  benches: readonly RowBench[],
): Promise<void> {
  await runProgram(title, elementwiseShapes, (shapes) => {
    const at = (shape: RowShape, dtype: FloatDType) =>
      benches.map((bench) => rowCase(bench, shape, dtype));
    return [
      ...shapes.flatMap((shape) => [...at(shape, "bfloat16"), ...at(shape, "float32")]),
      ...at(shapes[0]!, "float16"),
    ];
  });
}

async function runProgram(
  title: string,
  shapes: Shapes,
  casesAt: (shapes: readonly RowShape[]) => readonly BenchCase<RowBuffers>[],
): Promise<void> {
  const { values } = parseArgs({
    options: { device: { type: "string" }, json: { type: "string" } },
  });
  const device = (values.device ?? defaultDevice()) as Device;
  const cases = casesAt(device === "cpu" ? shapes.cpu : shapes.cuda);
  await benchmark(title, cases, { device, ...(values.json ? { json: values.json } : {}) });
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
