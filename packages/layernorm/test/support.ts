import { randn, type Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";
import { type Place, randomParameter } from "@warpwright/testing/vitest";
import {
  type AddLayernormOptions,
  addLayernorm,
  type LayernormOptions,
  layernorm,
} from "../src/index.js";
import { layernormReference, type Reference } from "./reference.js";

export interface Affine {
  weight?: Tensor | null;
  bias?: Tensor | null;
}

/** Both, random. */
export function randomAffine(size: number, place: Place): { weight: Tensor; bias: Tensor } {
  return { weight: randomParameter([size], place), bias: randn([size], { seed: 8, ...place }) };
}

/** Runs layernorm and compares out, mean and rstd with float64; returns what it gave. */
export function expectLayernorm(
  x: Tensor,
  { weight = null, bias = null }: Affine = {},
  options: LayernormOptions = {},
): Tensor {
  const reference = referenceOf(x, null, { weight, bias }, options);
  const out = layernorm(x, weight, bias, options);
  compare(out, reference, options);
  return out;
}

/** The same for addLayernorm; the sum has to be right to the bit. */
export function expectAddLayernorm(
  x: Tensor,
  residual: Tensor,
  { weight = null, bias = null }: Affine = {},
  options: AddLayernormOptions = {},
): { out: Tensor; residual: Tensor } {
  const reference = referenceOf(x, residual, { weight, bias }, options);
  const result = addLayernorm(x, residual, weight, bias, options);
  expectClose(result.residual, reference.sum, { ulps: 0, name: "residual" });
  compare(result.out, reference, options);
  return result;
}

// Before the call, which may write to its inputs.
function referenceOf(
  x: Tensor,
  residual: Tensor | null,
  { weight, bias }: Affine,
  { eps }: LayernormOptions,
): Reference {
  return layernormReference(valuesOf(x), x.shape.at(-1)!, x.dtype as FloatDType, {
    weight: weight && valuesOf(weight),
    bias: bias && valuesOf(bias),
    residual: residual ? valuesOf(residual) : undefined,
    eps,
  });
}

function compare(out: Tensor, reference: Reference, { mean, rstd }: LayernormOptions): void {
  const { float32 } = tolerances.roundedOnce;
  const rounded = tolerances.roundedOnce[out.dtype as FloatDType];
  expectClose(out, reference.out, { ...rounded, name: "out" });
  // A mean cancels: its error is that of the summands.
  if (mean) expectClose(mean, reference.mean, { ...float32, atol: 1e-6, name: "mean" });
  if (rstd) expectClose(rstd, reference.rstd, { ...float32, name: "rstd" });
}
