// newKernel, for the suites that every kernel repeats.
import type { Tensor } from "@warpwright/runtime";
import { calleeOf, rows } from "@warpwright/testing/vitest";
import { type NewKernelOptions, newKernel } from "../src/index.js";
import { newKernelReference } from "./reference.js";

const x = rows({
  refused: [
    ["x of another size", [2, 9], "out of shape [2, 9], got [2, 8]"],
    ["x without dimensions", [], "out of shape [], got [2, 8]"],
  ],
});

export const callees = [
  calleeOf({
    op: "newKernel",
    inputs: { x },
    outputs: { out: rows() },
    options: { beta: { number: 1, above: 0 } },
    unknown: [
      ["alpha", '"beta"'],
      ["output", '"out"'],
    ],
    first: newKernelReference(1),
    call: (options: NewKernelOptions, input: Tensor) => newKernel(input, options),
  }),
];
