import { gatedForms } from "@warpwright/testing/vitest";
import { newKernel, newKernelPair } from "../src/index.js";
import { newKernelReference } from "./reference.js";

/** newKernel's and newKernelPair's calls, compared with float64. */
export const { expectPacked, expectPair, testSanitized } = gatedForms({
  op: "newKernel",
  packed: newKernel,
  pair: newKernelPair,
  reference: newKernelReference,
});
