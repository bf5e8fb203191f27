// newKernel, for the suites that every kernel repeats.
import type { Tensor } from "@warpwright/runtime";
import { calleeOf, rowStatistic, rows } from "@warpwright/testing/vitest";
import { type NewKernelOptions, newKernel } from "../src/index.js";

export const callees = [
  calleeOf({
    op: "newKernel",
    inputs: { x: rows() },
    outputs: { out: rows(), inverse: rowStatistic() },
    options: { eps: { number: 1e-5, min: 0 } },
    unknown: [
      ["epsilon", '"eps"'],
      ["inv", '"inverse"'],
    ],
    first: 1 / Math.sqrt(8),
    call: (options: NewKernelOptions, x: Tensor) => newKernel(x, options),
  }),
];
