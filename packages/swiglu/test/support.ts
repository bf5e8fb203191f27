import { gatedForms } from "@warpwright/testing/vitest";
import { type SwigluPairOptions, swiglu, swigluPair } from "../src/index.js";
import { swigluReference } from "./reference.js";

/** All options, and a limit that normal values often exceed. */
export const clamped = { limit: 1.5, alpha: 1.702, upOffset: 1 };

/** swiglu's and swigluPair's calls, compared with float64. */
export const { expectPacked, expectPair, expectEveryForm, testSanitized } = gatedForms({
  op: "swiglu",
  packed: swiglu,
  pair: swigluPair,
  reference(gate, up, options: SwigluPairOptions) {
    const { limit = Number.POSITIVE_INFINITY, alpha = 1, upOffset = 0 } = options;
    // The kernel has them in float32.
    const scalars = { limit: Math.fround(limit), alpha: Math.fround(alpha), upOffset };
    return swigluReference(gate, up, scalars);
  },
});
