import { fromBytes, randn, tensor } from "@warpwright/runtime";
import {
  bitsOf,
  expectClose,
  floatDTypes,
  fromBits,
  poisonedLike,
  roundTo,
  testDevices,
  ulpDistance,
  valuesOf,
} from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { gelu } from "../src/index.js";
import { approximations, geluReference } from "./reference.js";
import { expectGelu } from "./support.js";

describe("the reference", () => {
  test.each(approximations)("the shares on both sides make 1: %s", (kind) => {
    // The shares below x and below -x are 1 together.
    for (const x of [0.1, 1, 2.5, 7]) {
      expect(geluReference(x, kind) - geluReference(-x, kind)).toBeCloseTo(x, 13);
    }
    expect(geluReference(50, kind)).toBe(50);
    expect(geluReference(0, kind)).toBe(0);
  });

  test("the two-sided share of one standard deviation", () => {
    expect(2 * geluReference(1) - 1).toBeCloseTo(0.6826894921370859, 14);
  });
});

// One element; rows shorter than a vector, of one and of several, with and without a tail; as many
// rows as a block has threads and one more; rows of many tiles; none.
const shapes: readonly (readonly number[])[] = [
  ...[[1], [1, 1], [3, 7], [2, 8], [5, 352], [1, 3420], [257, 20], [2, 3, 1421], [4, 10_944]],
  ...(isEmulated ? [] : [[130, 5000]]),
  ...[[0], [3, 0], [0, 8], [2, 0, 4]],
];

describe.each(testDevices())("gelu on %s", (device) => {
  const instances = floatDTypes.flatMap((dtype) =>
    approximations.map((approximate) => [dtype, approximate] as const),
  );

  describe.each(instances)("%s, %s", (dtype, approximate) => {
    test.each(shapes.map((shape) => [shape]))("%j", async (shape) => {
      const x = randn(shape, { seed: 1, dtype, device });
      const before = await bitsOf(x);
      expect(expectGelu(x, { approximate }).shape).toEqual(shape);
      expect(await bitsOf(x)).toBe(before);
      const out = poisonedLike(x);
      expect(expectGelu(x, { approximate, out })).toBe(out);
      expect(expectGelu(x, { approximate, out: x })).toBe(x);
      expect(await bitsOf(x)).toBe(await bitsOf(out));
    });
  });

  test.each(
    approximations.flatMap((kind) =>
      (["float16", "bfloat16"] as const).map((d) => [kind, d] as const),
    ),
  )("every value within 1 ulp: %s, %s", (approximate, dtype) => {
    const patterns = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i);
    const x = fromBytes(new Uint8Array(patterns.buffer), { shape: [2 ** 16], dtype, device });
    const out = valuesOf(gelu(x, { approximate }));
    for (const bits of patterns) {
      const value = fromBits(dtype, bits);
      if (!Number.isFinite(value)) continue; // see GE-12
      const wanted = geluReference(value, approximate);
      const apart = ulpDistance(dtype, out[bits]!, roundTo(dtype, wanted));
      if (!(apart <= 1)) expect([value, out[bits]]).toEqual([value, wanted]);
    }
  });

  test.each([
    ["none", -13.0, 2e-5],
    ["tanh", -10.05, 1e-4],
    ["quick", -53.5, 1e-4],
  ] as const)(
    "float32 down to the underflow, and 4 ulp from -1 on: %s",
    (approximate, low, rtol) => {
      const down = Float32Array.from({ length: 30_000 }, (_, i) => low * (1 - i / 30_000));
      const up = Float32Array.from({ length: 60_000 }, (_, i) => -1 + i * 0.00025);
      const wanted = (values: Float32Array) =>
        Float64Array.from(values, (value) => geluReference(value, approximate));
      const run = (values: Float32Array) => gelu(tensor(values, { device }), { approximate });
      expectClose(run(down), wanted(down), { rtol });
      expectClose(run(up), wanted(up), { ulps: 4 });
    },
  );

  test("a tensor without dimensions, and undefined options", async () => {
    const [one] = await gelu(tensor(1, { device })).data();
    expect(one).toBeCloseTo(0.841344746, 6);
    const x = randn([2, 8], { seed: 1, device });
    const given = { approximate: undefined, out: undefined, stream: undefined };
    expect(await gelu(x, given).data()).toEqual(await gelu(x).data());
  });
});
