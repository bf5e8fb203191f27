import { full, randn, tensor, zeros } from "@warpwright/runtime";
import { floatDTypes, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { newKernel } from "../src/index.js";
import { newKernelReference } from "./reference.js";
import { expectNewKernel } from "./support.js";

describe("the reference", () => {
  test("half of x where the sigmoid is 1/2, and all of it far from there", () => {
    expect(newKernelReference(0)).toBe(0);
    expect(newKernelReference(1e-12)).toBeCloseTo(5e-13, 20);
    expect(newKernelReference(800)).toBe(800);
    expect(newKernelReference(-800)).toBeCloseTo(0, 300);
  });

  test("the logistic function at ln(3) is 3/4", () => {
    const x = Math.log(3) / 2;
    expect(newKernelReference(x, { beta: 2 })).toBeCloseTo(0.75 * x, 15);
  });
});

// Below, at and beyond a vector, a tile of 256 threads and a piece of the CPU's, and an odd one.
const sizes = isEmulated ? [1, 7, 8, 1025] : [1, 7, 8, 9, 1025, 8192, 16_385, 100_003];

describe.each(testDevices())("newKernel on %s", (device) => {
  describe.each(floatDTypes)("%s", (dtype) => {
    const place = { dtype, device };

    test.each(sizes)("%i elements", (size) => {
      const x = randn([size], { seed: size, ...place });
      expectNewKernel(x);
      expectNewKernel(x, { beta: 1.702 });
    });

    test.each([[[]], [[0]], [[3, 0]], [[2, 3, 5]], [[7, 1, 33]]])("shape %j", (shape) => {
      const x = full(shape, 0.75, place);
      expect(expectNewKernel(x).shape).toEqual(shape);
      expect(expectNewKernel(x, { out: x })).toBe(x);
    });
  });

  test("infinities, NaN and zeros", async () => {
    const x = tensor([Number.NEGATIVE_INFINITY, Infinity, Number.NaN, -0, -3e38], { device });
    const y = await newKernel(x).data();
    expect([...y]).toEqual([-0, Infinity, Number.NaN, -0, -0]);
    expect(new Set(valuesOf(newKernel(zeros([9], { device }))))).toEqual(new Set([0]));
  });

  test("a beta that float32 has no number for", () => {
    const x = zeros([2], { device });
    expect(() => newKernel(x, { beta: 1e-50 })).toThrow(
      "newKernel: expected beta to be above 0 in float32, got 1e-50",
    );
  });
});
