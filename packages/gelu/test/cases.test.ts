// Faults that users of comparable kernels reported, by their numbers.
import { randn, tensor } from "@warpwright/runtime";
import { bitsOf, expectClose, roundTo, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { gelu } from "../src/index.js";
import { approximations, geluReference } from "./reference.js";

describe.each(testDevices())("reported faults on %s", (device) => {
  test("GE-01: the tail of the erf form, where 1 + erf cancels", () => {
    const x = tensor([-4, -5, -5.5, -6, -8, -10, -13], { device });
    const wanted = [
      -1.2668497e-4, -1.4332579e-6, -1.0444259e-7, -5.9195259e-9, -4.9767685e-15, -7.619853e-23,
      -7.9523137e-38,
    ];
    expectClose(gelu(x), wanted, { rtol: 2e-5 });
  });

  test.each(approximations)("GE-03: no finite x gives NaN: %s", async (approximate) => {
    const far = [-13.24, -20, -100, -6e4, -3.4e38, 40, 65_504, 3e38, 3.4e38];
    const y = await gelu(tensor(far, { device }), { approximate }).data();
    for (const [i, x] of far.entries()) {
      if (x > 0) expect(y[i]).toBe(Math.fround(x));
      else if (approximate !== "quick" || x < -60) expect(y[i]).toBeCloseTo(0, 37);
      expect(Object.is(y[i], 0)).toBe(false); // -0 for what is negative
    }
  });

  test.each(approximations)(
    "GE-04: a value is the same in every lane and in the tail: %s",
    (kind) => {
      for (const value of [21.657723, -1.5, 11, -13.24]) {
        for (const size of [17, 4099]) {
          const x = tensor(new Float32Array(size).fill(value), { device });
          const y = valuesOf(gelu(x, { approximate: kind }));
          expect(new Set(y).size).toBe(1);
          if (value > 20) expect(y[size - 1]).toBe(Math.fround(value));
        }
      }
    },
  );

  test("GE-05: the tail of the tanh form, where 1 + tanh cancels", () => {
    const x = tensor([-4, -5, -6, -8, -10], { device });
    const wanted = [-7.0245948e-5, -2.2917962e-7, -8.4396467e-11, -3.1077829e-21, -1.2040923e-37];
    expectClose(gelu(x, { approximate: "tanh" }), wanted, { rtol: 1e-4 });
  });

  test("GE-07: cubes beyond float16", async () => {
    const x = tensor([40, 41, 256, 60_000], { dtype: "float16", device });
    for (const approximate of approximations) {
      expect(await gelu(x, { approximate }).data()).toEqual(await x.data());
    }
  });

  test("GE-08: half of a wider tensor, either one", async () => {
    const wide = randn([2, 128, 3072], { seed: 1, dtype: "bfloat16", device });
    for (const half of wide.chunk(2, -1)) {
      expect(await bitsOf(gelu(half))).toBe(await bitsOf(gelu(half.contiguous())));
    }
  });

  test("GE-10, GE-13: each name is its own function", () => {
    const x = tensor([2.69895, -2.2704], { device });
    const [none, tanh, quick] = approximations.map((approximate) =>
      valuesOf(gelu(x, { approximate })),
    );
    expect(Math.abs(none![0]! - tanh![0]!)).toBeCloseTo(4.73e-4, 6);
    expect(Math.abs(none![1]! - quick![1]!)).toBeCloseTo(2.03e-2, 4);
    expectClose(
      gelu(x),
      [2.69895, -2.2704].map((value) => geluReference(Math.fround(value))),
      {
        atol: 1e-6,
      },
    );
  });

  test("GE-11: nothing inside is rounded to bfloat16", () => {
    const x = randn([4096], { seed: 3, dtype: "bfloat16", device });
    const wanted = valuesOf(x).map((value) => geluReference(value, "tanh"));
    expectClose(gelu(x, { approximate: "tanh" }), wanted, { ulps: 0.51 });
    const inner = valuesOf(x).map((value) => {
      const argument = Math.sqrt(2 / Math.PI) * (value + 0.044715 * value ** 3);
      return (value / 2) * (1 + Math.tanh(roundTo("bfloat16", argument)));
    });
    expect(() => expectClose(inner, wanted, { dtype: "bfloat16", ulps: 1 })).toThrow("differ");
  });

  test.each(approximations)("GE-12, C-8: infinities, NaN, -0 and subnormals: %s", (approximate) => {
    const x = tensor([-Infinity, Infinity, Number.NaN, -0, 0, 1e-40, -1e-40], { device });
    const y = valuesOf(gelu(x, { approximate }));
    expect(Object.is(y[0], -0)).toBe(true);
    expect(y[1]).toBe(Number.POSITIVE_INFINITY);
    expect(y[2]).toBeNaN();
    expect(Object.is(y[3], -0)).toBe(true);
    expect(Object.is(y[4], 0)).toBe(true);
    expectClose([y[5]!, y[6]!], [5e-41, -5e-41], { dtype: "float32", atol: 2 ** -148 });
  });
});
