import { randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import { floatDTypes, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { newKernel, newKernelPair } from "../src/index.js";
import { newKernelReference } from "./reference.js";
import { expectPacked, expectPair } from "./support.js";

describe("the reference", () => {
  test("half of up where the sigmoid is 1/2, and all or none of it far from there", () => {
    expect(newKernelReference(0, 5)).toBe(2.5);
    expect(newKernelReference(800, 2)).toBe(2);
    expect(newKernelReference(-800, 2)).toBeCloseTo(0, 300);
  });

  test("the logistic function at ln(3) is 3/4, at -ln(3) 1/4", () => {
    expect(newKernelReference(Math.log(3), 8)).toBeCloseTo(6, 14);
    expect(newKernelReference(-Math.log(3), 8)).toBeCloseTo(2, 14);
  });
});

// Below, at and beyond a vector, a tile of 256 threads and a piece of the CPU's, and an odd one.
const sizes = isEmulated ? [1, 7, 8, 1025] : [1, 7, 8, 9, 1025, 8192, 16_385, 50_003];

describe.each(testDevices())("newKernel on %s", (device) => {
  describe.each(floatDTypes)("%s", (dtype) => {
    const place = { dtype, device };

    test.each(sizes)("three rows of %i", (size) => {
      const x = randn([3, 2 * size], { seed: size, ...place });
      for (const gate of ["first", "last"] as const) {
        expectPacked(x, { gate });
        expectPacked(x, { gate, interleaved: true });
      }
      const [gate, up] = x.chunk(2, -1) as [Tensor, Tensor];
      expectPair(gate, up);
      expect(expectPair(gate, up, { out: up })).toBe(up);
    });

    test.each([[[0]], [[3, 0]], [[0, 8]], [[7, 1, 34]]])("shape %j", (shape) => {
      const x = zeros(shape, place);
      expect(expectPacked(x).shape).toEqual([...shape.slice(0, -1), shape.at(-1)! / 2]);
      expect(expectPair(x, x).shape).toEqual(shape);
    });
  });

  test("infinities and NaN of the gate", async () => {
    const gate = tensor([Number.NEGATIVE_INFINITY, Infinity, Number.NaN, 0], { device });
    const y = await newKernelPair(gate, tensor([2, 2, 2, 2], { device })).data();
    expect([...y]).toEqual([0, 2, Number.NaN, 1]);
  });

  test("an x that nobody may write is only read", () => {
    const x = randn([4, 64], { seed: 1, device });
    const before = valuesOf(x);
    newKernel(x);
    expect(valuesOf(x)).toEqual(before);
  });
});
