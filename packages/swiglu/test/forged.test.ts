import { ones, zeros } from "@warpwright/runtime";
import { handleOf, packRows } from "@warpwright/runtime/kernel";
import { describe, expect, test } from "vitest";
import { testForged } from "../../../tooling/elementwise-suites/src/index.js";
import { native } from "../src/native.js";

const { swigluFwd } = native();

testForged({ op: "swiglu", call: swigluFwd, operands: 2, scalars: [7, 1.702, 1] });

describe("forged scalars", () => {
  const [x, out] = [ones([2, 8]), zeros([2, 8])];
  const geometry = Float64Array.from(packRows([out, x, x], [])!);
  const call = (limit: number, alpha: number, upOffset: number) =>
    swigluFwd(handleOf(x), handleOf(x), handleOf(out), null, geometry, 0, limit, alpha, upOffset);

  test.each([
    [0, 1, 0],
    [-7, 1, 0],
    [Number.NaN, 1, 0],
    [7, 0, 0],
    [7, Number.NaN, 0],
    [7, Number.POSITIVE_INFINITY, 0],
    [7, 1, Number.NaN],
    [7, 1, Number.NEGATIVE_INFINITY],
  ])("a limit of %d, an alpha of %d, an upOffset of %d", (...scalars) => {
    expect(() => call(...scalars)).toThrow("swiglu: the CPU backend refused the call");
    expect(new Set(out.dataSync())).toEqual(new Set([0]));
  });
});
