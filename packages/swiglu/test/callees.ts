// swiglu's functions, for the suites that every kernel repeats.
import { gatedCallees, withOptions } from "@warpwright/testing/vitest";
import { swiglu, swigluPair } from "../src/index.js";
import { swigluReference } from "./reference.js";
import { clamped } from "./support.js";

export const { packed, pair, placements } = gatedCallees({
  op: "swiglu",
  packed: swiglu,
  pair: swigluPair,
  options: {
    // A limit of 0 would make everything 0; who has none leaves it out. GL-05.
    limit: { number: 7, above: 0, infinite: true },
    alpha: { number: 1.702, above: 0 },
    upOffset: { number: 1 },
  },
  nearestToUp: "upOffset",
  first: swigluReference(1, 1),
});

export const callees = [packed, pair];

/** Without any option, and with all of them, which is an instance of its own. */
export const instances = [
  ...placements,
  ...placements.map((callee) => withOptions(callee, clamped)),
];

/** Every placement, by turns without any option and with all. */
export const someInstances = placements.map((callee, i) =>
  i % 2 === 0 ? callee : withOptions(callee, clamped),
);
