// newKernel's functions, for the suites that every kernel repeats.
import type { Tensor } from "@warpwright/runtime";
import { calleeOf, rows, withOptions } from "@warpwright/testing/vitest";
import {
  type NewKernelOptions,
  type NewKernelPairOptions,
  newKernel,
  newKernelPair,
} from "../src/index.js";
import { newKernelReference } from "./reference.js";

const first = newKernelReference(1, 1);
const wrongX = "x with an even last dimension, got shape";

const packed = calleeOf({
  op: "newKernel",
  inputs: {
    x: rows({
      width: 2,
      refused: [
        ["x of another size", [2, 18], "out of shape [2, 9], got [2, 8]"],
        ["x of an odd size", [2, 9], `${wrongX} [2, 9]`],
        ["x without dimensions", [], `${wrongX} []`],
      ],
    }),
  },
  outputs: { out: rows() },
  options: {
    gate: { word: "last", of: ["first", "last"], not: ["second"] },
    interleaved: { flag: true },
  },
  unknown: [
    ["up", '"out"'],
    ["interleave", '"interleaved"'],
  ],
  first,
  call: (options: NewKernelOptions, x: Tensor) => newKernel(x, options),
});

const pair = calleeOf({
  op: "newKernelPair",
  inputs: {
    gate: rows({
      refused: [
        ["gate of another size", [2, 9], "up of shape [2, 9], got [2, 8]"],
        ["gate without dimensions", [], "up of shape [], got [2, 8]"],
      ],
    }),
    up: rows(),
  },
  outputs: { out: rows() },
  unknown: [["streams", '"stream"']],
  first,
  call: (options: NewKernelPairOptions, gate: Tensor, up: Tensor) =>
    newKernelPair(gate, up, options),
});

export const callees = [packed, pair];

/** The same with gate and up elsewhere in x. */
export const placements = [
  ...callees,
  ...[{ gate: "last" }, { interleaved: true }, { gate: "last", interleaved: true }].map((place) =>
    withOptions(packed, place),
  ),
];
