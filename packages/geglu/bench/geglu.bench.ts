// npm run bench -- geglu [--device cpu|cuda:N] [--json FILE]
import { parseArgs } from "node:util";
import { geglu, gegluPair } from "@warpwright/geglu";
import { type Device, defaultDevice, empty, type Tensor } from "@warpwright/runtime";
import {
  type BenchCase,
  benchmark,
  expectClose,
  type FloatDType,
  repeatedRows,
  tolerances,
  valuesOf,
} from "@warpwright/testing";
import { geluReference } from "../test/reference.js";

interface Buffers {
  inputs: Tensor[];
  out: Tensor;
}

/** A way to call it: the inputs for an out of [rows, size], and the call. */
interface Way {
  name: string;
  inputs: (rows: number, size: number) => (readonly [number, number])[];
  call: (inputs: readonly Tensor[], out: Tensor) => Tensor;
  /** Of the element at an index of a row of `size`. */
  reference: (rows: readonly Float64Array[], index: number, size: number) => number;
}

const ways: readonly Way[] = [
  {
    name: "geglu none",
    inputs: (rows, size) => [[rows, 2 * size]],
    call: ([x], out) => geglu(x!, { approximate: "none", out }),
    reference: ([x], i, size) => geluReference(x![i]!, "none") * x![size + i]!,
  },
  {
    name: "geglu tanh",
    inputs: (rows, size) => [[rows, 2 * size]],
    call: ([x], out) => geglu(x!, { approximate: "tanh", out }),
    reference: ([x], i, size) => geluReference(x![i]!, "tanh") * x![size + i]!,
  },
  {
    name: "geglu in turns",
    inputs: (rows, size) => [[rows, 2 * size]],
    call: ([x], out) => geglu(x!, { interleaved: true, out }),
    reference: ([x], i) => geluReference(x![2 * i]!) * x![2 * i + 1]!,
  },
  {
    name: "gegluPair",
    inputs: (rows, size) => [
      [rows, size],
      [rows, size],
    ],
    call: ([gate, up], out) => gegluPair(gate!, up!, { out }),
    reference: ([gate, up], i) => geluReference(gate![i]!) * up![i]!,
  },
];

type Shape = readonly [number, number];

function makeCase(way: Way, [rows, size]: Shape, dtype: FloatDType): BenchCase<Buffers> {
  return {
    name: way.name,
    shape: [rows, size],
    dtype,
    // gate and up read, and out written.
    bytes: 3 * rows * size * (dtype === "float32" ? 4 : 2),
    setup: (seed, device) => ({
      inputs: way
        .inputs(rows, size)
        .map((shape, i) => repeatedRows(shape, { seed: seed + 1000 * i, dtype, device })),
      out: empty([rows, size], { dtype, device }),
    }),
    run: ({ inputs, out }) => void way.call(inputs, out),
    verify({ inputs, out }) {
      for (const row of [0, rows >> 1, rows - 1]) {
        const given = inputs.map((tensor) => valuesOf(tensor.narrow(0, row, 1)));
        const wanted = Float64Array.from({ length: size }, (_, i) => way.reference(given, i, size));
        expectClose(out.narrow(0, row, 1), wanted, tolerances.roundedOnce[dtype]);
      }
    },
    dispose: ({ inputs, out }) => {
      for (const tensor of [...inputs, out]) tensor.dispose();
    },
  };
}

const { values } = parseArgs({
  options: { device: { type: "string" }, json: { type: "string" } },
});
const device = (values.device ?? defaultDevice()) as Device;
// As models have them, and an odd width, which takes the path without 16-byte access.
const shapes: readonly Shape[] =
  device === "cpu"
    ? [[4096, 4096]]
    : [
        [8192, 14_336],
        [16_384, 11_008],
        [8192, 4095],
        [128, 14_336],
      ];
const cases = shapes.flatMap((shape) =>
  (["bfloat16", "float32"] as const).flatMap((dtype) =>
    ways.map((way) => makeCase(way, shape, dtype)),
  ),
);
await benchmark("geglu", cases, { device, ...(values.json ? { json: values.json } : {}) });
