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
import { swiglu, swigluPair } from "../src/index.js";
import { swigluReference } from "./reference.js";
import { expectEveryForm, expectPacked, expectPair } from "./support.js";

const gptOss = { interleaved: true, limit: 7, alpha: 1.702, upOffset: 1 } as const;

describe.each(testDevices())("reported faults on %s", (device) => {
  test.each([
    [1, 8],
    [3, 12],
    [7, 20],
  ])("GL-03: float16 [%i, %i], whose halves are not aligned", (rows, width) => {
    const x = randn([rows, width], { seed: 1, dtype: "float16", device });
    expectPacked(x);
  });

  test("GL-04: gpt-oss takes turns, clamps, and adds 1 to up", async () => {
    const out = swiglu(tensor([3, 2, 20, -9], { device }), gptOss);
    expectClose(out, [8.94578607, -41.99971877], { rtol: 2e-7 });
  });

  test("GL-05: no limit, an undefined one and an infinite one clamp nothing", async () => {
    const x = tensor([300, 90, -400, 8], { device });
    const plainBits = await bitsOf(swiglu(x));
    for (const limit of [undefined, Number.POSITIVE_INFINITY]) {
      expect(await bitsOf(swiglu(x, { limit }))).toBe(plainBits);
    }
    expect(await swiglu(x).data()).toEqual(Float32Array.of(-120_000, 720));
    expect(() => swiglu(x, { limit: 0 })).toThrow("swiglu: expected limit");
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
        roundTo(dtype, roundTo(dtype, swigluReference(value, 1)) * u[i]!),
      );
      const once = g.map((value, i) => swigluReference(value, u[i]!));
      const compare = () => expectClose(twice, once, { dtype, ...tolerances.roundedOnce[dtype] });
      expect(compare).toThrow("elements differ");
    },
  );

  test("GL-09: gates far below 0 fade to -0, in either instance", async () => {
    const gates = [-87.5, -88.72, -89, -90, -91.5];
    const wanted = [-8.7345571e-37, -2.6146593e-37, -1.9823536e-37, -7.3746114e-38, -1.6729e-38];
    const faded = [-1e4, -3e38, Number.NEGATIVE_INFINITY];
    for (const options of [{}, { limit: 1e30 }]) {
      const run = (values: number[]) =>
        swigluPair(tensor(values, { device }), full([values.length], 1, { device }), options);
      expectClose(run(gates.slice(0, 4)), wanted.slice(0, 4), { rtol: 2e-5 });
      expectClose(
        run(gates),
        gates.map((gate) => swigluReference(gate, 1)),
        { rtol: 2e-5 },
      );
      // Subnormal, so what is left of it counts in units of 2^-149.
      expectClose(run([-100]), [swigluReference(-100, 1)], { atol: 100 * 2 ** -149 });
      for (const value of await run(faded).data()) expect(Object.is(value, -0)).toBe(true);
    }
  });

  test.each([352, 2112, 1056, 2736])("GL-12: %i columns, no power of two", async (width) => {
    for (const dtype of ["bfloat16", "float32"] as const) {
      await expectEveryForm([3, width], { dtype, device });
    }
  });

  test("GL-13: a view of the input that is kept elsewhere stays as it is", async () => {
    const x = randn([4, 64], { seed: 1, device });
    const kept = x.narrow(1, 16, 32);
    const before = await bitsOf(kept);
    swiglu(x);
    expect(await bitsOf(kept)).toBe(before);
    expect(() => swiglu(x, { out: kept })).toThrow("expected out to share no memory with x");
  });

  test("GL-14: a row of zeros is zeros, without a NaN", async () => {
    const out = swiglu(zeros([2, 128], { dtype: "bfloat16", device }));
    expect(await out.data()).toEqual(new Float32Array(128));
  });

  test("C-8: infinities and NaN of the gate", async () => {
    const gate = tensor([-Infinity, Infinity, Number.NaN, 1, -0], { device });
    for (const options of [{}, { limit: 1e30, alpha: 2 }]) {
      const y = await swigluPair(gate, full([5], 2, { device }), options).data();
      expect(Object.is(y[0], -0)).toBe(true);
      expect(y[1]).toBe("limit" in options ? Math.fround(2e30) : Number.POSITIVE_INFINITY);
      expect(y[2]).toBeNaN();
      expect(y[3]).toBeGreaterThan(1);
      expect(Object.is(y[4], -0)).toBe(true);
    }
    const up = tensor([Number.NaN, -Infinity, 9], { device });
    const y = await swigluPair(full([3], 1, { device }), up, { limit: 7 }).data();
    expect(y[0]).toBeNaN();
    expect(y[1]).toBeCloseTo(-5.117, 3);
    expect(y[2]).toBeCloseTo(5.117, 3);
  });

  test("GE-08: gate and up as chunks of a wider tensor, both halves", async () => {
    const wide = randn([2, 128, 3072], { seed: 1, dtype: "bfloat16", device });
    const [first, second] = wide.chunk(2, -1) as [Tensor, Tensor];
    const dense = [first.contiguous(), second.contiguous()] as const;
    const bits = await bitsOf(swigluPair(...dense));
    expect(await bitsOf(swigluPair(first, second))).toBe(bits);
    expect(await bitsOf(swiglu(wide))).toBe(bits);
    expect(await bitsOf(swigluPair(second, first))).toBe(
      await bitsOf(swiglu(wide, { gate: "last" })),
    );
  });
});
