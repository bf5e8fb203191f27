import { tensor } from "@warpwright/runtime";
import { expectClose, floatDTypes, roundTo, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { rope, ropeTables } from "../src/index.js";

// Pi to 90 digits, scaled by 2^256: integers from here on, so that no angle is too large.
const scale = 256n;
const digits =
  "314159265358979323846264338327950288419716939937510582097494459230781640628620899862803482";
const twoPi = (BigInt(digits) << (scale + 1n)) / 10n ** 89n;

/** The exact product of a position and a float64 frequency, brought below 2 pi, in float64. */
function reducedAngle(position: number, frequency: number): number {
  let exponent = 0n;
  let mantissa = frequency;
  for (; !Number.isInteger(mantissa); mantissa *= 2) exponent++;
  const angle = ((BigInt(position) * BigInt(mantissa)) << scale) >> exponent;
  return Number(angle % twoPi) / 2 ** Number(scale);
}

describe.each(testDevices())("ropeTables on %s", (device) => {
  test("row 0 is (1, 0), row 1 the frequencies; float32 and theta 10000 by default", () => {
    const { cos, sin } = ropeTables({ dim: 64, maxPositions: 2, device });
    expect([cos.shape, sin.shape, cos.dtype, cos.device]).toEqual([
      [2, 32],
      [2, 32],
      "float32",
      device,
    ]);
    expect(new Set(valuesOf(cos.select(0, 0)))).toEqual(new Set([1]));
    expect(new Set(valuesOf(sin.select(0, 0)))).toEqual(new Set([0]));
    const wanted = Array.from({ length: 32 }, (_, i) => Math.sin(10_000 ** (-i / 32)));
    expectClose(sin.select(0, 1), wanted, { ulps: 0.5 });
  });

  // Frequencies of models' thetas; positions on both sides of where the pieces meet that the
  // tables are formed in.
  test.each(floatDTypes)(
    "%s: half an ulp from the exact value up to position 1,048,575",
    (dtype) => {
      for (const theta of [100, 10_000, 500_000, 1e8]) {
        const { cos, sin } = ropeTables({ dim: 4, maxPositions: 2 ** 20, theta, dtype, device });
        for (const position of [1, 257, 1000, 15_962, 131_071, 131_072, 524_287, 2 ** 20 - 1]) {
          const angles = [1, 1 / theta ** 0.5].map((own) => reducedAngle(position, own));
          // The tables' own angle is a float64: off by up to 2^-53 of less than 2^20.
          const tolerance = { ulps: 0.5, atol: 2 ** -33 };
          expectClose(cos.select(0, position), angles.map(Math.cos), tolerance);
          expectClose(sin.select(0, position), angles.map(Math.sin), tolerance);
        }
        for (const table of [cos, sin]) table.dispose();
      }
    },
  );

  test("RO-05: positions are not rounded to 16 bits, whatever the tables are", () => {
    for (const dtype of floatDTypes) {
      const { cos } = ropeTables({ dim: 2, maxPositions: 16_000, dtype, device });
      const [value] = valuesOf(cos.narrow(0, 15_962, 1));
      expect(value).toBe(roundTo(dtype, Math.cos(15_962)));
      expect(value).toBeCloseTo(-0.9080159, 2); // of bfloat16's 15,936 it would be -0.268
    }
  });

  test("RO-01: what the tables and rope make of 1, 2, 3, 4 at position 1", () => {
    const { cos, sin } = ropeTables({ dim: 4, maxPositions: 2, device });
    const x = tensor([[[[1, 2, 3, 4]]]], { device });
    const halves = rope(x, cos, sin, { offset: 1 });
    expectClose(halves, [-1.98411065, 1.95990067, 2.4623779, 4.01979967], { atol: 4e-7 });
    const neighbours = rope(x, cos, sin, { offset: 1, interleaved: true });
    expectClose(neighbours, [-1.14263966, 1.9220756, 2.95985067, 4.0297995], { atol: 4e-7 });
  });
});
