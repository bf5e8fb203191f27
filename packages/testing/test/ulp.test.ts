import { describe, expect, test } from "vitest";

import { type FloatDType, fromBits } from "../src/float64.js";
import { largestOf, ulpDistance, ulpOf } from "../src/ulp.js";

describe("ulpOf", () => {
  test.each([
    ["bfloat16", 1, 2 ** -7],
    ["bfloat16", 1.5, 2 ** -7],
    ["bfloat16", 1.999999, 2 ** -7],
    ["bfloat16", 2, 2 ** -6],
    ["bfloat16", 0.999999, 2 ** -8],
    ["bfloat16", -3, 2 ** -6],
    ["bfloat16", 0, 2 ** -133],
    ["bfloat16", 2 ** -130, 2 ** -133],
    ["float16", 1, 2 ** -10],
    ["float16", 65504, 32],
    ["float16", 1e6, 32],
    ["float16", 2 ** -14, 2 ** -24],
    ["float16", 2 ** -20, 2 ** -24],
    ["float16", 5e-324, 2 ** -24],
    ["float32", 1, 2 ** -23],
    ["float32", 0, 2 ** -149],
    ["float32", Infinity, NaN],
    ["float32", NaN, NaN],
  ] as const)("%s at %d is %d", (dtype, y, ulp) => {
    expect(ulpOf(dtype, y)).toBe(ulp);
  });
});

describe("ulpDistance", () => {
  test.each([
    ["the same", "float16", 1, 1, 0],
    ["zeros of both signs", "float16", 0, -0, 0],
    ["neighbours", "float16", 1, 1 + 2 ** -10, 1],
    ["neighbours below a power of two", "float16", 1, 1 - 2 ** -11, 1],
    ["one binade", "float16", 1, 2, 1024],
    ["one binade, negative", "bfloat16", -4, -2, 128],
    ["the smallest subnormals around zero", "float16", 2 ** -24, -(2 ** -24), 2],
    ["zero and the smallest subnormal", "bfloat16", -0, 2 ** -133, 1],
    ["the largest subnormal and the smallest normal", "float16", 1023 * 2 ** -24, 2 ** -14, 1],
    ["across zero", "bfloat16", -1, 1, 2 * 0x3f80],
    ["float32 neighbours", "float32", 1, 1 + 2 ** -23, 1],
    ["values that round to one", "float16", 1, 1 + 2 ** -12, 0],
    ["NaN and NaN", "float16", NaN, NaN, 0],
    ["NaN and a number", "float16", NaN, 1, Infinity],
    ["equal infinities", "float16", -Infinity, -Infinity, 0],
    ["opposite infinities", "float16", -Infinity, Infinity, Infinity],
    ["the largest number and infinity", "float16", 65504, Infinity, Infinity],
    ["a value that overflows and infinity", "float16", 70000, Infinity, 0],
  ] as const)("%s", (_, dtype, a, b, steps) => {
    expect(ulpDistance(dtype, a, b)).toBe(steps);
    expect(ulpDistance(dtype, b, a)).toBe(steps);
  });

  test.each(["float16", "bfloat16"] as const)("every %s is 1 from the next", (dtype) => {
    const infinity = dtype === "float16" ? 0x7c00 : 0x7f80;
    for (let bits = 0; bits < infinity - 1; bits++) {
      const [a, b] = [fromBits(dtype, bits), fromBits(dtype, bits + 1)];
      if (ulpDistance(dtype, a, b) !== 1 || ulpDistance(dtype, -a, -b) !== 1) expect.fail(`${a}`);
      if (bits > 0 && b - a !== ulpOf(dtype, a)) expect.fail(`spacing at ${a}`);
    }
  });
});

describe("largestOf", () => {
  test.each([
    ["float32", 3.4028234663852886e38],
    ["float16", 65504],
    ["bfloat16", 3.3895313892515355e38],
  ] as [FloatDType, number][])("%s", (dtype, value) => {
    expect(largestOf(dtype)).toBe(value);
  });
});
