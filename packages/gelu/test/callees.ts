// gelu, for the suites that every kernel repeats.
import type { Tensor } from "@warpwright/runtime";
import { calleeOf, rows, withOptions } from "@warpwright/testing/vitest";
import { type GeluOptions, gelu } from "../src/index.js";
import { approximations, geluReference } from "./reference.js";

const x = rows({
  refused: [
    ["x of another size", [2, 9], "out of shape [2, 9], got [2, 8]"],
    ["x without dimensions", [], "out of shape [], got [2, 8]"],
  ],
});

const callee = calleeOf({
  op: "gelu",
  inputs: { x },
  outputs: { out: rows() },
  options: { approximate: { word: "tanh", of: approximations, not: ["erf", "gelu_new"] } },
  unknown: [
    ["approximation", '"approximate"'],
    ["output", '"out"'],
  ],
  first: geluReference(1),
  call: (options: GeluOptions, input: Tensor) => gelu(input, options),
});

export const callees = [callee];

/** The same with each approximation, an instance of its own. */
export const instances = approximations.map((approximate) => withOptions(callee, { approximate }));
