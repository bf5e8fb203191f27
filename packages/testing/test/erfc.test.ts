import { describe, expect, test } from "vitest";
import { erfc } from "../src/index.js";

describe("erfc", () => {
  // Abramowitz and Stegun, tables 7.1 and 7.3, with more digits.
  test.each([
    [0, 1],
    [0.5, 0.4795001221869535],
    [1, 0.15729920705028513],
    [2, 0.004677734981047266],
    [5, 1.5374597944280349e-12],
    [10, 2.088487583762545e-45],
    [-1, 1.8427007929497148],
  ])("erfc(%d) is %d", (x, wanted) => {
    expect(Math.abs(erfc(x) / wanted - 1)).toBeLessThan(1e-13);
  });

  test("the series and the continued fraction meet at 2, and the ends are the limits", () => {
    expect(erfc(2 - 1e-12) / erfc(2)).toBeCloseTo(1, 10);
    expect(erfc(30)).toBe(0);
    expect(erfc(-30)).toBe(2);
    expect(erfc(Number.NaN)).toBeNaN();
  });
});
