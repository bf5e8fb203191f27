import type { Device, Tensor } from "@warpwright/runtime";
import { expect, test } from "vitest";

import { type FloatDType, roundTo, valuesOf } from "../float64.js";
import { type Arguments, type Callee, callWith, goodArguments } from "./callee.js";

/** A call that has to fail. */
export interface Refusal {
  callee: Callee;
  /** The argument, and what is wrong with it. */
  fault: string;
  /** What replaces good arguments. */
  spoil: (good: Arguments) => Arguments;
  /** The code, a space, and the message. */
  error: string;
  /** Of the good arguments. Default "float32". */
  dtype?: FloatDType;
}

/**
 * Tests that each call is refused with its error, writes nothing, and leaves the next one alone.
 *
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rows, testRefusals } from "@warpwright/testing/vitest";
 * import { describe } from "vitest";
 *
 * const callee = calleeOf({
 *   op: "rmsnorm",
 *   inputs: { x: rows() },
 *   outputs: { out: rows() },
 *   call: (options: RmsnormOptions, x: Tensor) => rmsnorm(x, null, options),
 * });
 * describe("offsets", () => {
 *   testRefusals("cpu", [
 *     {
 *       callee,
 *       fault: "a weightOffset without a weight",
 *       spoil: () => ({ weightOffset: 1 }),
 *       error: "ERR_VALUE rmsnorm: expected a weight beside a weightOffset of 1",
 *     },
 *   ]);
 * });
 */
export function testRefusals(device: Device, refusals: readonly Refusal[]): void {
  test.each(refusals.map((refusal) => [refusal.callee.name, refusal.fault, refusal] as const))(
    "%s: %s",
    (_, __, { callee, spoil, error, dtype }) => {
      const good = goodArguments(callee, device, dtype);
      expectError(error, () => callWith(callee, { ...good, ...spoil(good) }));
      for (const name of Object.keys(callee.outputs)) {
        expect(valuesOf(good[name] as Tensor).every(Number.isNaN)).toBe(true);
      }
      const first = roundTo(dtype ?? "float32", callee.first);
      expect(valuesOf(callWith(callee, good))[0]).toBeCloseTo(first, 5);
    },
  );
}

const classes: Readonly<Record<string, ErrorConstructor>> = {
  ERR_KIND: TypeError,
  ERR_DTYPE: TypeError,
  ERR_SHAPE: RangeError,
  ERR_VALUE: RangeError,
  ERR_OVERLAP: RangeError,
};

/** Checks that the call throws exactly this error, of its code's class. */
function expectError(wanted: string, call: () => unknown): void {
  let error: unknown;
  try {
    call();
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(Error);
  const { code = "", message } = error as Error & { code?: string };
  expect(`${code} ${message}`).toBe(wanted);
  expect((error as Error).constructor).toBe(classes[code] ?? Error);
}

/** Values that are no tensor, no number, …, and how errors describe them. */
const kinds: readonly [described: string, value: unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 1],
  ["a bigint", 1n],
  ["a string", "x"],
  ["a boolean", true],
  ["a symbol", Symbol("x")],
  ["a function", () => 1],
  ["an array", [1, 2]],
  ["a Float32Array", new Float32Array(4)],
  ["an object", { shape: [2, 8], dtype: "float32" }],
  ["a promise", Promise.resolve(1)],
];

/**
 * A refusal for each kind of value but those that the argument may be.
 *
 * @param wanted as errors name it: "a number"
 * @param allowed kinds, as errors name them
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, kindRefusals, rows } from "@warpwright/testing/vitest";
 *
 * const callee = calleeOf({
 *   op: "rmsnorm",
 *   inputs: { x: rows() },
 *   call: (options: RmsnormOptions, x: Tensor) => rmsnorm(x, null, options),
 * });
 * console.log(kindRefusals(callee, "eps", "a number", ["undefined", "a number"])[0]!.error);
 * // ERR_KIND rmsnorm: expected eps to be a number, got null
 */
export function kindRefusals(
  callee: Callee,
  argument: string,
  wanted: string,
  allowed: readonly string[],
): Refusal[] {
  const found = kinds.filter(([described]) => !allowed.includes(described));
  return found.map(([described, value]) => {
    const awaitable = described === "a promise" && ["a Tensor", "an object"].includes(wanted);
    const remedy = awaitable ? "; await it first" : "";
    const sentence = `expected ${argument} to be ${wanted}, got ${described}${remedy}`;
    return {
      callee,
      fault: `${argument} is ${described}`,
      spoil: () => ({ [argument]: value }),
      error: `ERR_KIND ${callee.op}: ${sentence}`,
    };
  });
}

export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}
