import type { Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";
import { type GeluOptions, gelu } from "../src/index.js";
import { geluReference } from "./reference.js";

/** Runs gelu and compares with float64; returns what it gave. */
export function expectGelu(x: Tensor, options: GeluOptions = {}): Tensor {
  // Before the call, which may write to x.
  const wanted = valuesOf(x).map((value) => geluReference(value, options.approximate));
  const out = gelu(x, options);
  expectClose(out, wanted, { ...tolerances.roundedOnce[x.dtype as FloatDType], name: "out" });
  return out;
}
