import {
  type FloatDType,
  formatOf,
  fromBits,
  gridExponent,
  powerOfTwo,
  roundTo,
  toBits,
} from "./float64.js";

/**
 * The spacing of `dtype`'s numbers around y: the unit in the last place of y's binade, of the
 * smallest normal number's for subnormals and zero, and of the largest for y beyond the range.
 * NaN for NaN and infinities.
 *
 * @throws TypeError ERR_DTYPE for an integer dtype
 * @example
 * import { ulpOf } from "@warpwright/testing";
 *
 * ulpOf("bfloat16", 1.5); // 0.0078125
 */
export function ulpOf(dtype: FloatDType, y: number): number {
  const { mantissa } = formatOf(dtype);
  return Number.isFinite(y) ? powerOfTwo(gridExponent(dtype, y) - mantissa) : NaN;
}

/** Where a finite number of `dtype` stands when they are counted upwards from zero. */
function rank(dtype: FloatDType, x: number): number {
  const bits = toBits(dtype, Math.abs(x));
  return x < 0 ? -bits : bits;
}

/**
 * How many representable numbers of `dtype` lie between a and b, counting b: 0 for equal ones and
 * for 0 and -0, 1 for neighbours, also across a power of two or zero. Both are rounded to `dtype`
 * first. Two NaN are 0 apart; NaN and an infinity are infinitely far from everything else.
 *
 * @throws TypeError ERR_DTYPE for an integer dtype
 * @example
 * import { ulpDistance } from "@warpwright/testing";
 *
 * ulpDistance("float16", 1, 1 - 2 ** -11); // 1
 */
export function ulpDistance(dtype: FloatDType, a: number, b: number): number {
  const [from, to] = [roundTo(dtype, a), roundTo(dtype, b)];
  if (from === to || (Number.isNaN(from) && Number.isNaN(to))) return 0;
  if (!Number.isFinite(from) || !Number.isFinite(to)) return Infinity;
  return Math.abs(rank(dtype, from) - rank(dtype, to));
}

/**
 * The largest finite number of `dtype`.
 *
 * @throws TypeError ERR_DTYPE for an integer dtype
 * @example
 * import { largestOf } from "@warpwright/testing";
 *
 * largestOf("float16"); // 65504
 */
export function largestOf(dtype: FloatDType): number {
  return fromBits(dtype, toBits(dtype, Infinity) - 1);
}
