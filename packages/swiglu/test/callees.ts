// swiglu's functions, for the suites that every kernel repeats.
import type { Tensor } from "@warpwright/runtime";
import { calleeOf, rows, type ScalarOption, withOptions } from "@warpwright/testing/vitest";
import { type SwigluOptions, type SwigluPairOptions, swiglu, swigluPair } from "../src/index.js";
import { swigluReference } from "./reference.js";
import { clamped, gatePlaces } from "./support.js";

const first = swigluReference(1, 1);
const wrongX = "x with an even last dimension, got shape";

const scalars: Record<string, ScalarOption> = {
  // A limit of 0 would make everything 0; who has none leaves it out. GL-05.
  limit: { number: 7, above: 0, infinite: true },
  alpha: { number: 1.702, above: 0 },
  upOffset: { number: 1 },
};

/** Gate and up in one tensor. */
export const packed = calleeOf({
  op: "swiglu",
  inputs: {
    x: rows({
      width: 2,
      refused: [
        ["x of another size", [2, 18], "out of shape [2, 9], got [2, 8]"],
        ["x of an odd size", [2, 9], `${wrongX} [2, 9]`],
        ["x of one odd row", [7], `${wrongX} [7]`],
        ["x without dimensions", [], `${wrongX} []`],
      ],
    }),
  },
  outputs: { out: rows() },
  options: {
    ...scalars,
    gate: { word: "last", of: ["first", "last"], not: ["second"] },
    interleaved: { flag: true },
  },
  unknown: [
    ["up", '"upOffset"'],
    ["interleave", '"interleaved"'],
  ],
  first,
  call: (options: SwigluOptions, x: Tensor) => swiglu(x, options),
});

/** And in a tensor each. */
export const pair = calleeOf({
  op: "swigluPair",
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
  options: scalars,
  unknown: [
    ["steam", '"stream"'],
    ["gate", '"out"'],
    ["interleaved", '"stream"'],
  ],
  first,
  call: (options: SwigluPairOptions, gate: Tensor, up: Tensor) => swigluPair(gate, up, options),
});

export const callees = [packed, pair];

/** Wherever gate and up are in x, and the pair. */
export const placements = [pair, ...gatePlaces.map((place) => withOptions(packed, place))];

/** Without any option, and with all of them, which is an instance of its own. */
export const instances = [
  ...placements,
  ...placements.map((callee) => withOptions(callee, clamped)),
];

/** Every placement, by turns without any option and with all. */
export const someInstances = placements.map((callee, i) =>
  i % 2 === 0 ? callee : withOptions(callee, clamped),
);
