import type { Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";
import { type NewKernelOptions, newKernel } from "../src/index.js";
import { newKernelReference } from "./reference.js";

/** Runs newKernel and compares with float64; returns what it gave. */
export function expectNewKernel(x: Tensor, options: NewKernelOptions = {}): Tensor {
  // Before the call, which may write to x.
  const { beta = 1 } = options;
  const wanted = valuesOf(x).map((value) => newKernelReference(value, { beta }));
  const out = newKernel(x, options);
  expectClose(out, wanted, { ...tolerances.roundedOnce[x.dtype as FloatDType], name: "out" });
  return out;
}
