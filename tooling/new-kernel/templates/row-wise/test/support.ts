import type { Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";
import { type NewKernelOptions, newKernel } from "../src/index.js";
import { newKernelReference } from "./reference.js";

/** Runs newKernel and compares out and inverse with float64; returns what it gave. */
export function expectNewKernel(x: Tensor, options: NewKernelOptions = {}): Tensor {
  // Before the call, which may write to x.
  const wanted = newKernelReference(valuesOf(x), x.shape.at(-1)!, options);
  const out = newKernel(x, options);
  expectClose(out, wanted.out, { ...tolerances.roundedOnce[x.dtype as FloatDType], name: "out" });
  if (options.inverse) {
    const tolerance = tolerances.roundedOnce.float32;
    expectClose(options.inverse, wanted.inverse, { ...tolerance, name: "inverse" });
  }
  return out;
}
