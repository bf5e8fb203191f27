// Faults that users of comparable kernels reported, by their numbers.
import { full, randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import {
  bitsOf,
  expectClose,
  roundTo,
  testDevices,
  tolerances,
  valuesOf,
} from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { geglu, gegluPair } from "../src/index.js";
import { approximations, geluReference } from "./reference.js";
import { expectEveryForm, expectPacked, expectPair } from "./support.js";

describe.each(testDevices())("reported faults on %s", (device) => {
  test.each([
    [1, 8],
    [3, 12],
    [7, 20],
  ])("GL-03: float16 [%i, %i], whose halves are not aligned", (rows, width) => {
    const x = randn([rows, width], { seed: 1, dtype: "float16", device });
    expectPacked(x);
  });

  test.each(["bfloat16", "float16"] as const)(
    "GL-07: one rounding, of the product: %s",
    (dtype) => {
      const place = { dtype, device };
      const [gate, up] = [1, 2].map((seed) => randn([64, 4096], { seed, ...place })) as [
        Tensor,
        Tensor,
      ];
      expectPair(gate, up).dispose();
      const [g, u] = [valuesOf(gate), valuesOf(up)];
      const twice = g.map((value, i) =>
        roundTo(dtype, roundTo(dtype, geluReference(value)) * u[i]!),
      );
      const once = g.map((value, i) => geluReference(value) * u[i]!);
      const compare = () => expectClose(twice, once, { dtype, ...tolerances.roundedOnce[dtype] });
      expect(compare).toThrow("elements differ");
    },
  );

  test("GL-11: the first half is the gate, and with gate: last the last", async () => {
    const x = tensor([1, 0], { device });
    expect(await geglu(x).data()).toEqual(Float32Array.of(0));
    const gate = await geglu(tensor([1, 1], { device })).data();
    expect(gate[0]).toBeCloseTo(0.8413447, 6);
    const swapped = tensor([2, 1], { device });
    expectClose(geglu(swapped, { gate: "last" }), [2 * geluReference(1)]);
    expectClose(geglu(swapped), [geluReference(2)]);
  });

  test.each([352, 2112, 1056, 2736])("GL-12: %i columns, no power of two", async (width) => {
    for (const dtype of ["bfloat16", "float32"] as const) {
      await expectEveryForm([3, width], { dtype, device });
    }
  });

  test("GL-13: out shares nothing with the input of both", () => {
    const x = randn([4, 64], { seed: 1, device });
    expect(() => geglu(x, { out: x.narrow(1, 0, 32) })).toThrow("geglu: expected out to share no");
  });

  test("GL-14: a row of zeros is zeros, without a NaN", async () => {
    for (const approximate of approximations) {
      const out = geglu(zeros([2, 128], { dtype: "bfloat16", device }), { approximate });
      expect(await out.data()).toEqual(new Float32Array(128));
    }
  });

  test.each(approximations)("C-8: infinities and NaN of the gate: %s", async (approximate) => {
    const gate = tensor([-Infinity, Infinity, Number.NaN, -3e38, -0], { device });
    const y = await gegluPair(gate, full([5], 2, { device }), { approximate }).data();
    expect([y[0], y[3], y[4]].every((value) => Object.is(value, -0))).toBe(true);
    expect(y[1]).toBe(Number.POSITIVE_INFINITY);
    expect(y[2]).toBeNaN();
  });

  test("GE-08: gate and up as chunks of a wider tensor, both halves", async () => {
    const wide = randn([8, 2304], { seed: 1, dtype: "bfloat16", device });
    const [first, second] = wide.chunk(2, -1) as [Tensor, Tensor];
    const bits = await bitsOf(gegluPair(first.contiguous(), second.contiguous()));
    expect(await bitsOf(gegluPair(first, second))).toBe(bits);
    expect(await bitsOf(geglu(wide))).toBe(bits);
    expect(await bitsOf(gegluPair(second, first))).toBe(
      await bitsOf(geglu(wide, { gate: "last" })),
    );
  });
});
