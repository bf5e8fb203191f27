import type { Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, tolerances, valuesOf } from "@warpwright/testing";
import {
  pickRowsPerCta,
  type RmsnormRhtAmaxOptions,
  type RmsnormRhtAmaxResult,
  rmsnormRhtAmax,
} from "../src/index.js";
import { type Reference, rmsnormRhtAmaxReference } from "./reference.js";

/** Runs rmsnormRhtAmax and compares out and amax with float64; returns what it gave. */
export function expectRmsnormRhtAmax(
  x: Tensor,
  weight: Tensor,
  options: RmsnormRhtAmaxOptions = {},
): RmsnormRhtAmaxResult {
  // Before the call, which may write to x.
  const wanted = referenceOf(x, weight, options);
  const result = rmsnormRhtAmax(x, weight, options);
  compare(result, wanted);
  return result;
}

export function referenceOf(x: Tensor, weight: Tensor, options: RmsnormRhtAmaxOptions): Reference {
  const rows = x.shape.slice(0, -1).reduce((product, size) => product * size, 1);
  const { eps, signs, nan, rowsPerCta = pickRowsPerCta(rows) } = options;
  const given = { eps, signs, nan, rowsPerCta };
  return rmsnormRhtAmaxReference(valuesOf(x), valuesOf(weight), given);
}

export function compare({ out, amax }: RmsnormRhtAmaxResult, wanted: Reference): void {
  const table = tolerances.roundedOnce;
  expectClose(out, wanted.out, { ...table[out.dtype as FloatDType], name: "out" });
  // Of the values before rounding: half an ulp of a 16-bit dtype would be a hundred times as much.
  expectClose(amax, wanted.amax, { ...table.float32, name: "amax" });
}

export function disposeAll(tensors: Iterable<Tensor>): void {
  for (const tensor of tensors) tensor.dispose();
}
