import { AssertionError } from "node:assert";

import { type FloatDType, formatOf, roundTo } from "./float64.js";
import { ulpOf } from "./ulp.js";

/** What a comparison is about, for its message and its arithmetic. */
export interface Compared {
  /** Names the values in the message, such as "rmsnorm out". */
  name: string;
  dtype: FloatDType;
  /** Turns a flat index into coordinates in the message. */
  shape?: readonly number[] | undefined;
}

/**
 * How far `actual`, a number of `dtype`, is from the float64 `expected`. A NaN is right only where
 * a NaN is expected. An infinity stands for the first number beyond the range, which rounding makes
 * an infinity of: so a result that just overflows is as wrong as its last bit, and no more.
 */
export function errorOf(dtype: FloatDType, actual: number, expected: number): number {
  if (Number.isNaN(actual) || Number.isNaN(expected)) {
    return Number.isNaN(actual) && Number.isNaN(expected) ? 0 : Infinity;
  }
  if (Number.isFinite(actual) && Number.isFinite(expected)) return Math.abs(actual - expected);
  if (actual === expected) return 0;
  if (Math.abs(expected) === Infinity || Math.sign(actual) !== Math.sign(expected)) return Infinity;
  return Math.max(0, 2 ** (formatOf(dtype).maxExponent + 1) - Math.abs(expected));
}

/** Throws unless both have as many elements. */
export function checkCount(name: string, actual: number, expected: number): void {
  if (actual === expected) return;
  fail(`${name}: expected ${expected} elements, got ${actual}`, actual, expected);
}

/**
 * Throws an AssertionError that names the worst element unless every error is within `allowed` of
 * its expected value.
 */
export function checkErrors(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  compared: Compared,
  allowed: (expected: number) => number,
): void {
  const { name, dtype } = compared;
  checkCount(name, actual.length, expected.length);
  let wrong = 0;
  let worst = -1;
  let worstExcess = 0;
  for (let i = 0; i < expected.length; i++) {
    const error = errorOf(dtype, actual[i]!, expected[i]!);
    const bound = allowed(expected[i]!);
    // A NaN bound, which an expected NaN or infinity gives, accepts no error at all.
    if (error === 0 || error <= bound) continue;
    wrong++;
    const excess = bound > 0 ? error / bound : Infinity;
    if (worst < 0 || excess > worstExcess) [worst, worstExcess] = [i, excess];
  }
  if (wrong === 0) return;
  const [got, wanted] = [actual[worst]!, expected[worst]!];
  const what = describeElement(worst, got, wanted, compared);
  const bound = describeBound(dtype, allowed(wanted), wanted);
  fail(
    `${name}: ${wrong} of ${expected.length} elements differ; worst ${what}${bound}`,
    got,
    wanted,
  );
}

/** `at [1, 5] (773): got 1.01, expected 1.004 (bfloat16 1), off by 0.0039 = 0.5 ulp`. */
export function describeElement(
  index: number,
  actual: number,
  expected: number,
  { dtype, shape }: Compared,
): string {
  const error = errorOf(dtype, actual, expected);
  const where = shape === undefined ? `at ${index}` : `at ${coordinates(index, shape)} (${index})`;
  const rounded = roundTo(dtype, expected);
  const nearest = Object.is(rounded, expected) ? "" : ` (${dtype} ${rounded})`;
  const values = `${where}: got ${actual}, expected ${expected}${nearest}`;
  if (error === Infinity) return values;
  return `${values}, off by ${digits(error)} = ${digits(error / ulpOf(dtype, expected))} ulp`;
}

/** Throws an AssertionError; test runners show `message` and, where they can, both values. */
export function fail(message: string, actual: unknown, expected: unknown): never {
  throw new AssertionError({ message, actual, expected, stackStartFn: fail });
}

function describeBound(dtype: FloatDType, bound: number, expected: number): string {
  if (!Number.isFinite(bound)) return "";
  return `, allowed ${digits(bound)} = ${digits(bound / ulpOf(dtype, expected))} ulp`;
}

function coordinates(index: number, shape: readonly number[]): string {
  const at: number[] = [];
  let rest = index;
  for (const size of [...shape].reverse()) {
    at.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return `[${at.join(", ")}]`;
}

function digits(x: number): string {
  return String(Number(x.toPrecision(4)));
}
