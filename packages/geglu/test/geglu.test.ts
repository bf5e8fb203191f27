import { fromBytes, full, randn } from "@warpwright/runtime";
import { fromBits, roundTo, testDevices, ulpDistance, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { testValues } from "../../../tooling/elementwise-suites/src/index.js";
import { geglu, gegluPair } from "../src/index.js";
import { operations } from "./operations.js";
import { geluReference } from "./reference.js";

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

for (const operation of operations) testValues(operation);

describe.each(testDevices())("geglu on %s", (device) => {
  const kinds = ["none", "tanh", "quick"] as const;
  const cases = kinds.flatMap((kind) =>
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
