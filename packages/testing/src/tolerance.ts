import type { Tensor } from "@warpwright/runtime";

import { type Compared, checkErrors, fail } from "./compare.js";
import { valueError } from "./errors.js";
import { type FloatDType, formatOf, valuesOf } from "./float64.js";
import { ulpOf } from "./ulp.js";

/**
 * How far a value may be from the expected y: `ulps * ulpOf(dtype, y) + rtol * |y| + ofLargest *
 * max|y| + atol`; what is left out is 0.
 */
export interface Tolerance {
  /** Units in the last place of the dtype at y. */
  ulps?: number;
  /** Share of |y|. */
  rtol?: number;
  /** Share of the largest finite |y| of all that is compared. */
  ofLargest?: number;
  /** In the values' own unit. */
  atol?: number;
}

type ToleranceTable = Readonly<Record<FloatDType, Readonly<Tolerance>>>;

// What float32 arithmetic adds to a rounding: a row's sum is off by some ulp, and a value that
// cancels by some of the row's largest.
const arithmetic = { rtol: 6e-6, ofLargest: 5e-7 };

/**
 * Tolerances against a float64 reference that starts from the same, dtype-rounded inputs.
 *
 * - `elementwise`: float32 rounds each of a handful of operations, so a few times 2^-24. A 16-bit
 *   result is half an ulp off by its own rounding and may fall to the other side of a tie: 1 ulp.
 *   `atol` is for results that cancel, whose error is that of the terms.
 * - `reduction`: a float32 sum over thousands of terms, in any order, adds a few more bits.
 * - `roundedOnce`: where the contract is float32 throughout and one rounding at the end, by which a
 *   16-bit result is half an ulp off: a second rounding anywhere shows. The golden files' rule.
 * - `roundedTwice`: where the contract rounds an intermediate value to the 16-bit dtype as well.
 *   The reference does so too, and does not round its result. Where the last bit of float32
 *   arithmetic tips the first rounding, that is an ulp of the intermediate value, which may be two
 *   of the result; the second rounding adds half of one.
 */
export const tolerances: Readonly<
  Record<"elementwise" | "reduction" | "roundedOnce" | "roundedTwice", ToleranceTable>
> = {
  elementwise: {
    float32: { rtol: 2e-6, atol: 1e-6 },
    float16: { ulps: 1, atol: 1e-6 },
    bfloat16: { ulps: 1, atol: 1e-6 },
  },
  reduction: {
    float32: { rtol: 1e-5, atol: 1e-5 },
    float16: { ulps: 1, atol: 1e-5 },
    bfloat16: { ulps: 1, atol: 1e-5 },
  },
  roundedOnce: {
    float32: arithmetic,
    float16: { ulps: 0.5, ...arithmetic },
    bfloat16: { ulps: 0.5, ...arithmetic },
  },
  roundedTwice: {
    float32: arithmetic,
    float16: { ulps: 2.5, ...arithmetic },
    bfloat16: { ulps: 2.5, ...arithmetic },
  },
};

export interface ExpectCloseOptions extends Tolerance {
  /** Dtype the values were rounded to. Default: the tensor's; an array needs one. */
  dtype?: FloatDType;
  /** Begins the message. Default "values". */
  name?: string;
}

/**
 * Throws unless every element of `actual` is close to its float64 reference. Without any part of a
 * {@link Tolerance} it is `tolerances.elementwise[dtype]`. NaN must meet NaN and an infinity the
 * same infinity; where a finite reference overflows `dtype`, an infinity is right. Waits for the
 * tensor's device.
 *
 * @param actual a tensor of a floating-point dtype, any layout, any device; or plain numbers
 * @param expected the reference in row-major order, not rounded to `dtype`
 * @throws AssertionError naming the worst element, its place, both values and the error in ulp;
 *   also when the number of elements or the dtype differs
 * @throws TypeError ERR_DTYPE for an integer dtype or an array without one
 * @throws RangeError ERR_VALUE for a tolerance that is negative or not finite
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { expectClose } from "@warpwright/testing";
 *
 * const x = tensor([1, 2, 3], { dtype: "bfloat16" });
 * expectClose(x, [1, 2, 3.001], { ulps: 0.5 });
 */
export function expectClose(
  actual: Tensor | ArrayLike<number>,
  expected: ArrayLike<number>,
  options: ExpectCloseOptions = {},
): void {
  const { name = "values" } = options;
  const given = "dtype" in actual ? (actual as Tensor) : undefined;
  const dtype = (options.dtype ?? given?.dtype) as FloatDType;
  formatOf(dtype);
  if (given !== undefined && given.dtype !== dtype) {
    fail(`${name}: expected dtype ${dtype}, got ${given.dtype}`, given.dtype, dtype);
  }

  const tolerance = withDefault(options, dtype);
  for (const key of parts) {
    const value = tolerance[key] ?? 0;
    if (value >= 0 && value < Infinity) continue;
    throw valueError(`expected ${key} to be a finite number of at least 0, got ${value}`);
  }

  const values = given === undefined ? (actual as ArrayLike<number>) : valuesOf(given);
  const compared: Compared = { name, dtype, shape: given?.shape };
  checkErrors(values, expected, compared, allowedBy(tolerance, dtype, expected));
}

const parts = ["ulps", "rtol", "ofLargest", "atol"] as const satisfies (keyof Tolerance)[];

function withDefault(options: Tolerance, dtype: FloatDType): Tolerance {
  const given = parts.some((key) => options[key] !== undefined);
  return given ? options : tolerances.elementwise[dtype];
}

/** The error that the tolerance allows at y, one of the `expected` values. */
export function allowedBy(
  { ulps = 0, rtol = 0, ofLargest = 0, atol = 0 }: Tolerance,
  dtype: FloatDType,
  expected: ArrayLike<number>,
): (y: number) => number {
  const anywhere = (ofLargest > 0 ? ofLargest * largestFinite(expected) : 0) + atol;
  return (y) => ulps * ulpOf(dtype, y) + rtol * Math.abs(y) + anywhere;
}

function largestFinite(values: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    const magnitude = Math.abs(values[i]!);
    if (magnitude > largest && magnitude < Infinity) largest = magnitude;
  }
  return largest;
}
