// newKernel's functions, for the suites that every kernel repeats.
import { gatedCallees } from "@warpwright/testing/vitest";
import { newKernel, newKernelPair } from "../src/index.js";
import { newKernelReference } from "./reference.js";

const gated = gatedCallees({
  op: "newKernel",
  packed: newKernel,
  pair: newKernelPair,
  first: newKernelReference(1, 1),
});

export const callees = [gated.packed, gated.pair];

/** With gate and up in every place. */
export const { placements } = gated;
