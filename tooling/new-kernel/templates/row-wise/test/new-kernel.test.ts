import { randn, zeros } from "@warpwright/runtime";
import { expectClose, floatDTypes, seedGrid, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { newKernel } from "../src/index.js";
import { newKernelReference } from "./reference.js";
import { expectNewKernel } from "./support.js";

describe("the reference", () => {
  test("a row of 3 and 4 has a norm of 5", () => {
    const { out, inverse } = newKernelReference([3, 4], 2, { eps: 0 });
    expect(inverse[0]).toBeCloseTo(0.2, 15);
    expect(out[1]).toBeCloseTo(0.8, 15);
  });

  test("eps is inside the root", () => {
    expect(newKernelReference([0.3], 1, { eps: 0.16 }).out[0]).toBeCloseTo(0.6, 15);
  });
});

// Within, at and beyond what a warp, a block and a cluster hold in registers, and sizes that no
// vector divides.
const hiddenSizes = isEmulated
  ? [1, 7, 8, 33, 129, 769]
  : [1, 2, 7, 8, 9, 33, 129, 255, 769, 1025, 4096, 4097, 8200, 32_769, 131_071, 300_000];

describe.each(testDevices())("newKernel on %s", (device) => {
  describe.each(floatDTypes)("%s", (dtype) => {
    const place = { dtype, device };

    const grid = isEmulated ? seedGrid().slice(0, 9) : seedGrid();
    test.each(grid.map((c) => [c.name, c] as const))("grid: %s", (_, { input, throws }) => {
      const x = input(place);
      if (throws) {
        expect(() => newKernel(x)).toThrow(expect.objectContaining({ code: throws }));
      } else {
        expectNewKernel(x).dispose();
      }
      x.dispose();
    });

    test.each(hiddenSizes)("hidden size %i, five rows", (hiddenSize) => {
      const x = randn([5, hiddenSize], { seed: hiddenSize, ...place });
      expectNewKernel(x, { inverse: zeros([5], { device }) });
    });

    test.each([0, 1, 2, 3, 131, 1000])("%i rows of 64", (rows) => {
      const x = randn([rows, 64], { seed: 1, ...place });
      expectNewKernel(x, { inverse: zeros([rows], { device }) });
    });

    test("eps, in place, and rows of zeros", () => {
      const x = randn([6, 512], { seed: 5, ...place });
      expectNewKernel(x, { eps: 0.5 });
      expect(expectNewKernel(x, { out: x })).toBe(x);
      expect(new Set(valuesOf(newKernel(zeros([2, 96], place))))).toEqual(new Set([0]));
    });

    test("NaN stays in its row", () => {
      const x = randn([3, 96], { seed: 2, ...place });
      const clean = valuesOf(newKernel(x.select(0, 2)));
      x.select(0, 1).narrow(0, 5, 1).fill(Number.NaN);
      const out = valuesOf(newKernel(x));
      expect(out.subarray(96, 192).every(Number.isNaN)).toBe(true);
      expectClose(out.subarray(192), clean, { dtype, ulps: 0 });
    });
  });
});
