import { tensor } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { roundTo } from "../src/float64.js";
import { expectClose, tolerances } from "../src/tolerance.js";
import { ulpOf } from "../src/ulp.js";

const bf16 = { dtype: "bfloat16" } as const;
const fp16 = { dtype: "float16" } as const;

/** The message that expectClose throws for these arguments, or "". */
function messageOf(...args: Parameters<typeof expectClose>): string {
  try {
    expectClose(...args);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

describe("expectClose", () => {
  test("names the worst element, both values and the error in ulp", () => {
    const message = messageOf([1, 2.03125, 3], [1, 2, 3.01], { ...bf16, ulps: 1, name: "out" });
    expect(message).toBe(
      "out: 1 of 3 elements differ; worst at 1: got 2.03125, expected 2, " +
        "off by 0.03125 = 2 ulp, allowed 0.01563 = 1 ulp",
    );
  });

  test("shows what the reference rounds to, and counts every difference", () => {
    const message = messageOf([1, 2, 4], [1, 2.01, 4.5], { ...bf16, ulps: 0.5 });
    expect(message).toBe(
      "values: 2 of 3 elements differ; worst at 2: got 4, expected 4.5, " +
        "off by 0.5 = 16 ulp, allowed 0.01563 = 0.5 ulp",
    );
    expect(messageOf([1], [1.01], { ...bf16, atol: 0 })).toContain(
      "expected 1.01 (bfloat16 1.0078125)",
    );
  });

  test("throws an AssertionError", () => {
    expect(() => expectClose([1], [2], bf16)).toThrow(
      expect.objectContaining({ name: "AssertionError", actual: 1, expected: 2 }),
    );
  });

  test.each([
    // half an ulp of bfloat16 at 1 is 2^-8
    ["ulps accept the bound", 1 + 2 ** -8, { ulps: 0.5 }, true],
    ["ulps refuse more", 1 + 2 ** -8 + 1e-9, { ulps: 0.5 }, false],
    ["rtol accepts the bound", 1.25, { rtol: 0.2 }, true],
    ["rtol refuses more", 1.26, { rtol: 0.2 }, false],
    ["atol accepts the bound", 1.5, { atol: 0.5 }, true],
    ["atol refuses more", 1.51, { atol: 0.5 }, false],
    ["they add up", 1.75, { atol: 0.5, rtol: 1 / 7 }, true],
    ["atol 0 is exact", 1.0000001, { atol: 0 }, false],
    ["a share of the largest accepts the bound", 1.5, { ofLargest: 1 / 3 }, true],
    ["a share of the largest refuses more", 1.51, { ofLargest: 1 / 3 }, false],
  ])("%s", (_, expected, tolerance, accepted) => {
    expect(messageOf([1], [expected], { ...bf16, ...tolerance }) === "").toBe(accepted);
  });

  test("the default is the dtype's element-wise tolerance", () => {
    expect(tolerances.elementwise.float32).toEqual({ rtol: 2e-6, atol: 1e-6 });
    expect(messageOf([1], [1 + 2.9e-6], { dtype: "float32" })).toBe("");
    expect(messageOf([1], [1 + 3.1e-6], { dtype: "float32" })).not.toBe("");
    expect(messageOf([1], [1 + 2 ** -10], fp16)).toBe("");
    expect(messageOf([1], [1 + 2 ** -9], fp16)).not.toBe("");
  });

  test("the largest is that of all finite values", () => {
    const largest = { ...bf16, ofLargest: 0.01 };
    expect(messageOf([1, -8, Infinity], [1.05, -8, Infinity], largest)).toBe("");
    expect(messageOf([1, -8, Infinity], [1.09, -8, Infinity], largest)).not.toBe("");
    expect(messageOf([1, NaN], [1.05, NaN], largest)).not.toBe("");
  });

  test("a second rounding is more than roundedOnce, and within roundedTwice", () => {
    for (const dtype of ["float16", "bfloat16"] as const) {
      const y = 1.25 + 0.75 * ulpOf(dtype, 1.25);
      const near = roundTo(dtype, y);
      const next = near - ulpOf(dtype, y);
      expect(messageOf([near], [y], { dtype, ...tolerances.roundedOnce[dtype] })).toBe("");
      expect(messageOf([next], [y], { dtype, ...tolerances.roundedOnce[dtype] })).not.toBe("");
      expect(messageOf([next], [y], { dtype, ...tolerances.roundedTwice[dtype] })).toBe("");
    }
  });

  test.each([
    ["NaN for NaN", NaN, NaN, true],
    ["NaN for a number", NaN, 1, false],
    ["a number for NaN", 1, NaN, false],
    ["an infinity for itself", Infinity, Infinity, true],
    ["the opposite infinity", -Infinity, Infinity, false],
    ["the largest number for infinity", 65504, Infinity, false],
    ["infinity for a number", Infinity, 1, false],
    ["infinity for a number that overflows", Infinity, 70000, true],
    ["infinity for one that overflows by rounding", Infinity, 65520, true],
    ["infinity for one below that", Infinity, 65500, false],
    ["the wrong infinity for a number that overflows", -Infinity, 70000, false],
  ])("%s", (_, actual, expected, accepted) => {
    expect(messageOf([actual], [expected], { ...fp16, ulps: 1 }) === "").toBe(accepted);
  });

  test("NaN is the worst error", () => {
    expect(messageOf([9, NaN], [1, 1], fp16)).toBe(
      "values: 2 of 2 elements differ; worst at 1: got NaN, expected 1, " +
        "allowed 0.0009776 = 1.001 ulp",
    );
  });

  test("a tensor brings its dtype and its shape, in any layout", () => {
    const x = tensor([1, 2, 3, 4, 5, 6], { shape: [2, 3], dtype: "bfloat16" }).transpose();
    expect(messageOf(x, [1, 4, 2, 5, 3, 6])).toBe("");
    expect(messageOf(x, [1, 4, 2, 8, 3, 6])).toBe(
      "values: 1 of 6 elements differ; worst at [1, 1] (3): got 5, expected 8, " +
        "off by 3 = 48 ulp, allowed 0.0625 = 1 ulp",
    );
    expect(messageOf(x, [1, 4, 2, 5, 3, 6], { dtype: "float16" })).toBe(
      "values: expected dtype float16, got bfloat16",
    );
  });

  test("an integer tensor is refused", () => {
    expect(() => expectClose(tensor([1], { dtype: "int32" }), [1])).toThrow(
      expect.objectContaining({ name: "TypeError", code: "ERR_DTYPE" }),
    );
  });

  test("another number of elements is refused", () => {
    expect(messageOf([1, 2], [1], bf16)).toBe("values: expected 1 elements, got 2");
  });

  test("no elements are close", () => {
    expect(messageOf([], [], bf16)).toBe("");
  });

  test.each([
    ["ulps", -1],
    ["rtol", NaN],
    ["ofLargest", -1e-9],
    ["atol", Infinity],
  ])("%s of %d is refused", (key, value) => {
    expect(() => expectClose([1], [1], { ...bf16, [key]: value })).toThrow(
      expect.objectContaining({
        name: "RangeError",
        code: "ERR_VALUE",
        message: `testing: expected ${key} to be a finite number of at least 0, got ${value}`,
      }),
    );
  });

  test("an array without a dtype is refused", () => {
    expect(() => expectClose([1], [1])).toThrow(expect.objectContaining({ code: "ERR_DTYPE" }));
  });
});
