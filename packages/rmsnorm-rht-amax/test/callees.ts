// rmsnormRhtAmax, for the suites that every kernel repeats.
import type { Tensor } from "@warpwright/runtime";
import { calleeOf, rowParameter, rows, type TensorArgument } from "@warpwright/testing/vitest";
import { type RmsnormRhtAmaxOptions, rmsnormRhtAmax } from "../src/index.js";

// The suites' sizes of a row become multiples of 16, small ones of 32: different sizes that are
// refused stay different, and 8 is what 32 threads may share.
function columns(size: number): number {
  return size <= 16 ? 32 * size : 16 * Math.ceil(size / 16);
}

const rowsOfBlocks = rows({ shape: (outer, size) => [...outer, columns(size)] });
const weights = rowParameter({ shape: (_, size) => [columns(size)], absent: [] });

/** One for each row, since the suites' calls have a rowsPerCta of 1. */
const amaxes: TensorArgument = {
  ...{ kind: "other", dtype: "float32", absent: [], isOption: false },
  shape: (outer) => [outer.reduce((product, size) => product * size, 1)],
};

// A bent function: the transform of ones with these signs is 1 everywhere.
const bentSigns = 0x7888;

export const callees = [
  calleeOf({
    op: "rmsnormRhtAmax",
    inputs: { x: rowsOfBlocks, weight: weights },
    outputs: { out: rowsOfBlocks, amax: amaxes },
    options: {
      eps: { number: 1e-4, min: 0 },
      numThreads: { number: 32, min: 1, integer: true },
      rowsPerCta: { number: 1, min: 1, integer: true },
      signs: { number: 0xd7e8, min: 0, integer: true },
      nan: { word: "ignore", of: ["propagate", "ignore"], not: ["error", "NaN"] },
    },
    unknown: [
      ["epsilon", '"eps"'],
      ["num_threads", '"numThreads"'],
      ["rows_per_cta", '"rowsPerCta"'],
      ["sign", '"signs"'],
    ],
    more: () => ({ rowsPerCta: 1, signs: bentSigns }),
    first: 1 / Math.sqrt(1 + 1e-5),
    call: (options: RmsnormRhtAmaxOptions, x: Tensor, weight: Tensor) =>
      rmsnormRhtAmax(x, weight, options).out,
  }),
];
