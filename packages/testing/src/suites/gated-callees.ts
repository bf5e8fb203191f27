import type { Tensor } from "@warpwright/runtime";

import { rows } from "./arguments.js";
import { type Callee, calleeOf, type ScalarOption, withOptions } from "./callee.js";
import { type GatePlace, gatePlaces } from "./gated.js";

/** A gated kernel's two functions, the second of them named after the first and "Pair". */
export interface GatedCalleeSettings {
  op: string;
  packed(x: Tensor, options: never): Tensor;
  pair(gate: Tensor, up: Tensor, options: never): Tensor;
  /** The options of both that are no tensors. Default none. */
  options?: Readonly<Record<string, ScalarOption>>;
  /** The nearest option to "up". Default "out". */
  nearestToUp?: string;
  /** The result where gate and up are 1. */
  first: number;
}

/** Declarations of a gated kernel's functions for the suites that every kernel repeats. */
export interface GatedCallees {
  packed: Callee;
  pair: Callee;
  /** The pair, and the packed function with gate and up in each place. */
  placements: readonly Callee[];
}

/**
 * Declares both functions of a gated kernel.
 *
 * @example
 * import { geglu, gegluPair } from "@warpwright/geglu";
 * import { gatedCallees, testTensorErrors } from "@warpwright/testing/vitest";
 *
 * const { packed, pair } = gatedCallees({
 *   op: "geglu",
 *   packed: geglu,
 *   pair: gegluPair,
 *   options: { approximate: { word: "tanh", of: ["none", "tanh", "quick"] } },
 *   first: 0.8413447460685429,
 * });
 * testTensorErrors([packed, pair]);
 */
export function gatedCallees(settings: GatedCalleeSettings): GatedCallees {
  const { op, options = {}, nearestToUp = "out", first } = settings;
  const wrongX = "x with an even last dimension, got shape";
  const packed = calleeOf({
    op,
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
      ...options,
      gate: { word: "last", of: ["first", "last"], not: ["second"] },
      interleaved: { flag: true },
    },
    unknown: [
      ["up", `"${nearestToUp}"`],
      ["interleave", '"interleaved"'],
    ],
    first,
    call: (given: never, x: Tensor) => settings.packed(x, given),
  });
  const pair = calleeOf({
    op: `${op}Pair`,
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
    options,
    unknown: [
      ["steam", '"stream"'],
      ["gate", '"out"'],
      ["interleaved", '"stream"'],
    ],
    first,
    call: (given: never, gate: Tensor, up: Tensor) => settings.pair(gate, up, given),
  });
  const at = (place: GatePlace) => withOptions(packed, { ...place });
  return { packed, pair, placements: [pair, ...gatePlaces.map(at)] };
}
