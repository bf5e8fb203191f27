import { fromBytes, full, randn, tensor } from "@warpwright/runtime";
import {
  expectClose,
  floatDTypes,
  fromBits,
  roundTo,
  testDevices,
  ulpDistance,
  valuesOf,
} from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { swiglu, swigluPair } from "../src/index.js";
import { swigluReference } from "./reference.js";
import { clamped, expectEveryForm } from "./support.js";

describe("the reference", () => {
  test("half the gate where the sigmoid is 1/2, and all of it far from there", () => {
    expect(swigluReference(0, 5)).toBe(0);
    expect(swigluReference(1e-12, 4)).toBeCloseTo(2e-12, 20);
    expect(swigluReference(800, 2)).toBe(1600);
    expect(swigluReference(-800, 2)).toBeCloseTo(0, 300);
  });

  test("the logistic function at ln(3) is 3/4, at -ln(3) 1/4", () => {
    const gate = Math.log(3);
    expect(swigluReference(gate, 8)).toBeCloseTo(6 * gate, 14);
    expect(swigluReference(-gate, 8)).toBeCloseTo(-2 * gate, 14);
    expect(swigluReference(gate / 2, 8, { alpha: 2 })).toBeCloseTo(3 * gate, 14);
  });

  test("the gate is clamped from above alone, up from both sides, before its offset", () => {
    const limited = { limit: 7, upOffset: 1 };
    expect(swigluReference(9, 9, limited)).toBe(swigluReference(7, 7, { upOffset: 1 }));
    expect(swigluReference(-9, -9, limited)).toBe(swigluReference(-9, -7, { upOffset: 1 }));
    expect(swigluReference(1, -1, limited)).toBeCloseTo(0, 300);
  });
});

// One element; rows shorter than a vector, of one and of several, with and without a tail; as many
// rows as a block has threads and one more; rows of many tiles; none.
const shapes: readonly (readonly number[])[] = [
  ...[[1], [1, 1], [3, 7], [2, 8], [5, 352], [1, 3420], [257, 20], [2, 3, 1421], [4, 10_944]],
  ...(isEmulated ? [] : [[130, 5000]]),
  ...[[0], [3, 0], [0, 8], [2, 0, 4]],
];

describe.each(testDevices())("swiglu on %s", (device) => {
  describe.each(floatDTypes)("%s", (dtype) => {
    test.each(shapes.map((shape) => [shape]))("%j", async (shape) => {
      await expectEveryForm(shape, { dtype, device });
      await expectEveryForm(shape, { dtype, device }, clamped);
    });
  });

  test("the three places of the gate, and the pair, are one function", async () => {
    const [gate, up] = [tensor([1, -2], { device }), tensor([3, 4], { device })];
    const wanted = [swigluReference(1, 3), swigluReference(-2, 4)];
    expectClose(swigluPair(gate, up), wanted);
    expectClose(swiglu(tensor([1, -2, 3, 4], { device })), wanted);
    expectClose(swiglu(tensor([3, 4, 1, -2], { device }), { gate: "last" }), wanted);
    const turns = tensor([1, 3, -2, 4], { device });
    expectClose(swiglu(turns, { interleaved: true }), wanted);
    const back = tensor([3, 1, 4, -2], { device });
    expectClose(swiglu(back, { interleaved: true, gate: "last" }), wanted);
  });

  test.each(["float16", "bfloat16"] as const)("every gate of %s within 1 ulp", (dtype) => {
    const patterns = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i);
    const gate = fromBytes(new Uint8Array(patterns.buffer), { shape: [2 ** 16], dtype, device });
    const up = full([2 ** 16], 1, { dtype, device });
    const plainOut = valuesOf(swigluPair(gate, up));
    const tunedOut = valuesOf(swigluPair(gate, up, { alpha: 1.702 }));
    for (const bits of patterns) {
      const x = fromBits(dtype, bits);
      if (!Number.isFinite(x)) continue; // see C-8
      const wanted = [swigluReference(x, 1), swigluReference(x, 1, { alpha: 1.702 })];
      const found = [plainOut[bits]!, tunedOut[bits]!];
      const apart = found.map((y, i) => ulpDistance(dtype, y, roundTo(dtype, wanted[i]!)));
      if (Math.max(...apart) > 1) expect([x, ...found]).toEqual([x, ...wanted]);
    }
  });

  test("float32 gates down to the underflow, and within 4 ulp from -1 on", () => {
    const down = Float32Array.from({ length: 20_000 }, (_, i) => -91.7 + i * 0.0046);
    const up = Float32Array.from({ length: 20_000 }, (_, i) => -1 + i * 0.0008);
    for (const alpha of [1, 1.702]) {
      // The sigmoid fades sooner the larger alpha is.
      const from = down.map((gate) => gate / alpha);
      const one = full([20_000], 1, { device });
      const run = (gates: Float32Array) => swigluPair(tensor(gates, { device }), one, { alpha });
      const wanted = (gates: Float32Array) =>
        Float64Array.from(gates, (gate) => swigluReference(gate, 1, { alpha: Math.fround(alpha) }));
      expectClose(run(from), wanted(from), { rtol: 1e-4 });
      expectClose(run(up), wanted(up), { ulps: 4 });
    }
  });

  test.each(floatDTypes)("options by themselves and together, %s", async (dtype) => {
    for (const options of [
      { limit: 0.5 },
      { alpha: 1.702 },
      { alpha: 0.01 },
      { upOffset: 1 },
      { upOffset: -0.25 },
      { limit: 0.75, alpha: 2 },
      { limit: 7, alpha: 1.702, upOffset: 1 },
    ]) {
      await expectEveryForm([4, 200], { dtype, device }, options);
    }
  });

  test("undefined options are left out", async () => {
    const x = randn([2, 8], { seed: 1, device });
    const given = { limit: undefined, alpha: undefined, upOffset: undefined, gate: undefined };
    const more = { interleaved: undefined, out: undefined, stream: undefined };
    expect(await swiglu(x, { ...given, ...more }).data()).toEqual(await swiglu(x).data());
  });
});
