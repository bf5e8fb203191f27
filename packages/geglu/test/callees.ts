// geglu's functions, for the suites that every kernel repeats.
import type { Tensor } from "@warpwright/runtime";
import { calleeOf, rows, type ScalarOption, withOptions } from "@warpwright/testing/vitest";
import { type GegluOptions, type GegluPairOptions, geglu, gegluPair } from "../src/index.js";
import { approximations, geluReference } from "./reference.js";
import { gatePlaces } from "./support.js";

const first = geluReference(1);
const wrongX = "x with an even last dimension, got shape";

const scalars: Record<string, ScalarOption> = {
  approximate: { word: "tanh", of: approximations, not: ["gelu", "erf"] },
};

/** Gate and up in one tensor. */
export const packed = calleeOf({
  op: "geglu",
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
    ["up", '"out"'],
    ["interleave", '"interleaved"'],
  ],
  first,
  call: (options: GegluOptions, x: Tensor) => geglu(x, options),
});

/** And in a tensor each. */
export const pair = calleeOf({
  op: "gegluPair",
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
  call: (options: GegluPairOptions, gate: Tensor, up: Tensor) => gegluPair(gate, up, options),
});

export const callees = [packed, pair];

/** Wherever gate and up are in x, and the pair. */
export const placements = [pair, ...gatePlaces.map((place) => withOptions(packed, place))];

/** With each approximation, an instance of its own. */
export const instances = approximations.flatMap((approximate) =>
  placements.map((callee) => withOptions(callee, { approximate })),
);

/** Every placement and every approximation once or more. */
export const someInstances = placements.map((callee, i) =>
  withOptions(callee, { approximate: approximations[i % approximations.length] }),
);
