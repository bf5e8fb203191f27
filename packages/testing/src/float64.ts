import type { Tensor } from "@warpwright/runtime";

import { dtypeError, valueError } from "./errors.js";

/** The floating-point element types that kernels compute with. */
export type FloatDType = "float32" | "float16" | "bfloat16";

/** All of them, for `describe.each`. */
export const floatDTypes: readonly FloatDType[] = ["float32", "float16", "bfloat16"];

/** How a binary floating-point type divides its bits. */
interface Format {
  bits: 16 | 32;
  /** Explicit mantissa bits. */
  mantissa: number;
  /** Smallest and largest exponent of a normal number, as in `1.m * 2 ** e`. */
  minExponent: number;
  maxExponent: number;
}

const formats: Readonly<Record<FloatDType, Format>> = {
  float32: { bits: 32, mantissa: 23, minExponent: -126, maxExponent: 127 },
  float16: { bits: 16, mantissa: 10, minExponent: -14, maxExponent: 15 },
  bfloat16: { bits: 16, mantissa: 7, minExponent: -126, maxExponent: 127 },
};

/** Returns whether `dtype` names a floating-point type. */
export function isFloat(dtype: string): dtype is FloatDType {
  return Object.hasOwn(formats, dtype);
}

/** The format of `dtype`, or a TypeError with code ERR_DTYPE. */
export function formatOf(dtype: FloatDType): Format {
  if (isFloat(dtype)) return formats[dtype];
  throw dtypeError(`expected dtype float32, float16 or bfloat16, got ${String(dtype)}`);
}

const view = new DataView(new ArrayBuffer(8));

// Every power of two that a float64 holds, because these run for each element of large tensors.
const lowestPower = -1074;
const powers = Float64Array.from({ length: 1024 - lowestPower }, (_, i) => 2 ** (lowestPower + i));

/** 2 ** exponent, for an integer from -1074 to 1023. */
export function powerOfTwo(exponent: number): number {
  return powers[exponent - lowestPower]!;
}

/** The exponent e of `1.m * 2 ** e` for a finite, normal float64 other than zero. */
function exponentOf(x: number): number {
  view.setFloat64(0, x);
  return ((view.getUint16(0) >> 4) & 0x7ff) - 1023;
}

/** The exponent that decides the spacing of `dtype`'s numbers around a finite x. */
export function gridExponent(dtype: FloatDType, x: number): number {
  const { minExponent, maxExponent } = formatOf(dtype);
  return x === 0 ? minExponent : Math.min(Math.max(exponentOf(x), minExponent), maxExponent);
}

// Adding and subtracting it leaves the nearest integer, ties to even, for 0 <= x < 2 ** 51.
const integerRounder = 2 ** 52;

/**
 * Rounds a float64 to the nearest number of `dtype`, ties to even, in one rounding. Subnormals are
 * kept, overflow gives an infinity, and NaN, infinities and the sign of zero pass through.
 *
 * @throws TypeError ERR_DTYPE for an integer dtype
 * @example
 * import { roundTo } from "@warpwright/testing";
 *
 * roundTo("bfloat16", 1.00390625); // 1: halfway between 1 and 1.0078125, ties to even
 */
export function roundTo(dtype: FloatDType, x: number): number {
  const { mantissa, maxExponent } = formatOf(dtype);
  if (x === 0 || !Number.isFinite(x)) return x;
  const magnitude = Math.abs(x);
  const limit = powerOfTwo(maxExponent + 1);
  if (magnitude >= limit) return x > 0 ? Infinity : -Infinity;
  const spacing = powerOfTwo(gridExponent(dtype, x) - mantissa);
  const rounded = (magnitude / spacing + integerRounder - integerRounder) * spacing;
  const value = rounded >= limit ? Infinity : rounded;
  return x < 0 ? -value : value;
}

/**
 * The bit pattern of x rounded to `dtype`: 16 or 32 bits, unsigned. NaN becomes 0x7fff in the
 * 16-bit types, as the kernels' conversions have it, and 0x7fc00000 in float32.
 *
 * @throws TypeError ERR_DTYPE for an integer dtype
 * @example
 * import { toBits } from "@warpwright/testing";
 *
 * toBits("float16", 1).toString(16); // "3c00"
 */
export function toBits(dtype: FloatDType, x: number): number {
  const { bits, mantissa, minExponent, maxExponent } = formatOf(dtype);
  if (Number.isNaN(x)) return bits === 32 ? 0x7fc00000 : 0x7fff;
  const value = roundTo(dtype, x);
  const magnitude = Math.abs(value);
  const sign = value < 0 || Object.is(value, -0) ? 2 ** (bits - 1) : 0;
  const bias = maxExponent;
  if (magnitude === Infinity) return sign + (2 * bias + 1) * 2 ** mantissa;
  const exponent = gridExponent(dtype, magnitude);
  // The hidden bit of a normal number is worth one step of the exponent field: a subnormal's field
  // is 0 and a normal's starts at 1, so both are this one sum.
  return sign + (exponent - minExponent) * 2 ** mantissa + magnitude * 2 ** (mantissa - exponent);
}

/**
 * The value of a bit pattern, exact: the inverse of {@link toBits}. Every NaN pattern gives NaN.
 *
 * @param bits 0 to 0xffff for the 16-bit types, 0 to 0xffffffff for float32
 * @throws TypeError ERR_DTYPE for an integer dtype; RangeError ERR_VALUE for bits out of range
 * @example
 * import { fromBits } from "@warpwright/testing";
 *
 * fromBits("bfloat16", 0x3f80); // 1
 */
export function fromBits(dtype: FloatDType, bits: number): number {
  const format = formatOf(dtype);
  if (!Number.isInteger(bits) || bits < 0 || bits >= 2 ** format.bits) {
    throw valueError(`expected bits from 0 to 2^${format.bits} - 1, got ${bits}`);
  }
  const half = 2 ** (format.bits - 1);
  const sign = bits >= half ? -1 : 1;
  const field = Math.floor((bits % half) / 2 ** format.mantissa);
  const fraction = bits % 2 ** format.mantissa;
  if (field === 2 * format.maxExponent + 1) return fraction === 0 ? sign * Infinity : NaN;
  const hidden = field === 0 ? 0 : 2 ** format.mantissa;
  const exponent = Math.max(field - 1, 0) + format.minExponent;
  return sign * (hidden + fraction) * 2 ** (exponent - format.mantissa);
}

/**
 * Rounds every element of `values` to `dtype`: what a kernel is given when a test hands it those
 * numbers, and so what its float64 reference starts from.
 *
 * @throws TypeError ERR_DTYPE for an integer dtype
 * @example
 * import { roundAll } from "@warpwright/testing";
 *
 * roundAll("float16", [0.1, 70000]); // Float64Array [0.0999755859375, Infinity]
 */
export function roundAll(dtype: FloatDType, values: ArrayLike<number>): Float64Array {
  formatOf(dtype);
  return Float64Array.from(values, (value) => roundTo(dtype, value));
}

/**
 * The elements of a tensor of any dtype, layout and device as float64, in row-major order, exact
 * (int64 beyond 2^53 excepted). Waits for the device.
 *
 * @throws Error ERR_DISPOSED
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { valuesOf } from "@warpwright/testing";
 *
 * const x = tensor([0.1, 2], { dtype: "float16" });
 * valuesOf(x); // Float64Array [0.0999755859375, 2]
 */
export function valuesOf(x: Tensor): Float64Array {
  const data = x.dataSync();
  return data instanceof BigInt64Array ? Float64Array.from(data, Number) : new Float64Array(data);
}

/**
 * The tensor's bits, for comparisons that allow no difference.
 *
 * @example
 * import { randn } from "@warpwright/runtime";
 * import { bitsOf } from "@warpwright/testing";
 *
 * const x = randn([4, 96], { seed: 1 });
 * console.log((await bitsOf(x)) === (await bitsOf(x.clone()))); // true
 */
export async function bitsOf(x: Tensor): Promise<string> {
  return Buffer.from(await x.bytes()).toString("base64");
}
