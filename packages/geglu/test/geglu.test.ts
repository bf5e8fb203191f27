import { fromBytes, full, randn } from "@warpwright/runtime";
import {
  floatDTypes,
  fromBits,
  roundTo,
  testDevices,
  ulpDistance,
  valuesOf,
} from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { geglu, gegluPair } from "../src/index.js";
import { approximations, geluReference } from "./reference.js";
import { expectEveryForm } from "./support.js";

describe("the reference", () => {
  test("gelu of 1 is the share of the normal distribution below 1", () => {
    expect(geluReference(1)).toBeCloseTo(0.8413447460685429, 14);
    expect(geluReference(1, "tanh")).toBeCloseTo(0.841192, 6);
    expect(geluReference(Math.log(3) / 1.702, "quick")).toBeCloseTo(
      (0.75 * Math.log(3)) / 1.702,
      14,
    );
  });
});

// One element; rows shorter than a vector, of one and of several, with and without a tail; as many
// rows as a block has threads and one more; rows of many tiles; none.
const shapes: readonly (readonly number[])[] = [
  ...[[1], [1, 1], [3, 7], [2, 8], [5, 352], [1, 3420], [257, 20], [2, 3, 1421], [4, 10_944]],
  ...(isEmulated ? [] : [[130, 5000]]),
  ...[[0], [3, 0], [0, 8], [2, 0, 4]],
];

describe.each(testDevices())("geglu on %s", (device) => {
  const instances = floatDTypes.flatMap((dtype) =>
    approximations.map((approximate) => [dtype, approximate] as const),
  );

  describe.each(instances)("%s, %s", (dtype, approximate) => {
    test.each(shapes.map((shape) => [shape]))("%j", (shape) =>
      expectEveryForm(shape, { dtype, device }, { approximate }),
    );
  });

  const cases = approximations.flatMap((kind) =>
    (["float16", "bfloat16"] as const).map((dtype) => [kind, dtype] as const),
  );

  test.each(cases)("every gate within 1 ulp: %s, %s", (approximate, dtype) => {
    const patterns = Uint16Array.from({ length: 2 ** 16 }, (_, i) => i);
    const gate = fromBytes(new Uint8Array(patterns.buffer), { shape: [2 ** 16], dtype, device });
    const up = full([2 ** 16], -1, { dtype, device });
    const out = valuesOf(gegluPair(gate, up, { approximate }));
    for (const bits of patterns) {
      const value = fromBits(dtype, bits);
      if (!Number.isFinite(value)) continue; // see C-8
      const wanted = -geluReference(value, approximate);
      const apart = ulpDistance(dtype, out[bits]!, roundTo(dtype, wanted));
      if (!(apart <= 1)) expect([value, out[bits]]).toEqual([value, wanted]);
    }
  });

  test("undefined options are left out", async () => {
    const x = randn([2, 8], { seed: 1, device });
    const given = { approximate: undefined, gate: undefined, interleaved: undefined };
    expect(await geglu(x, given).data()).toEqual(await geglu(x).data());
  });
});
