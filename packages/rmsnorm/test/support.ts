import type { Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";
import { type AddRmsnormOptions, addRmsnorm, type RmsnormOptions, rmsnorm } from "../src/index.js";
import { type Reference, type ReferenceOptions, rmsnormReference } from "./reference.js";

/** Runs rmsnorm and compares out and rstd with float64; returns what it gave. */
export function expectRmsnorm(
  x: Tensor,
  weight: Tensor | null,
  options: RmsnormOptions = {},
): Tensor {
  const reference = referenceOf(x, null, weight, options);
  const out = rmsnorm(x, weight, options);
  compare(out, reference, options);
  return out;
}

/** The same for addRmsnorm; the sum has to be right to the bit. */
export function expectAddRmsnorm(
  x: Tensor,
  residual: Tensor,
  weight: Tensor | null,
  options: AddRmsnormOptions = {},
): { out: Tensor; residual: Tensor } {
  const reference = referenceOf(x, residual, weight, options);
  const result = addRmsnorm(x, residual, weight, options);
  expectClose(result.residual, reference.sum, { ulps: 0, name: "residual" });
  compare(result.out, reference, options);
  return result;
}

// Before the call, which may write to its inputs.
function referenceOf(
  x: Tensor,
  residual: Tensor | null,
  weight: Tensor | null,
  options: RmsnormOptions,
): Reference {
  const { eps, weightOffset, casting } = options;
  const given: ReferenceOptions = { eps, weightOffset, casting };
  if (residual) given.residual = valuesOf(residual);
  const weights = weight && valuesOf(weight);
  return rmsnormReference(valuesOf(x), weights, x.shape.at(-1)!, x.dtype as FloatDType, given);
}

function compare(out: Tensor, reference: Reference, { casting, rstd }: RmsnormOptions): void {
  const table = casting === "llama" ? tolerances.roundedTwice : tolerances.roundedOnce;
  expectClose(out, reference.out, { ...table[out.dtype as FloatDType], name: "out" });
  if (rstd) expectClose(rstd, reference.rstd, { ...tolerances.roundedOnce.float32, name: "rstd" });
}

/** How many elements of a 16-bit tensor are NaN or infinite, from its bits. */
export async function countNonFinite(x: Tensor): Promise<number> {
  const exponent = x.dtype === "float16" ? 0x7c00 : 0x7f80;
  const bytes = await x.bytes();
  let count = 0;
  for (const bits of new Uint16Array(bytes.buffer, bytes.byteOffset, x.size)) {
    if ((bits & exponent) === exponent) count++;
  }
  return count;
}
