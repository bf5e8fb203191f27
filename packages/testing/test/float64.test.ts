import { describe, expect, test } from "vitest";

import { type FloatDType, fromBits, roundAll, roundTo, toBits } from "../src/float64.js";

const sixteenBit: FloatDType[] = ["float16", "bfloat16"];
const all: FloatDType[] = ["float32", ...sixteenBit];

describe("fromBits and toBits", () => {
  test.each(sixteenBit)("all 65,536 patterns of %s come back", (dtype) => {
    const wrong: number[] = [];
    for (let bits = 0; bits < 65536; bits++) {
      const value = fromBits(dtype, bits);
      if (Number.isNaN(value) ? toBits(dtype, value) !== 0x7fff : toBits(dtype, value) !== bits) {
        wrong.push(bits);
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    // 2 x 1023 and 2 x 127 patterns have all exponent bits set and a mantissa that is not 0.
    ["float16", 2046],
    ["bfloat16", 254],
  ] as const)("%s has %i patterns of NaN", (dtype, count) => {
    let found = 0;
    for (let bits = 0; bits < 65536; bits++) if (Number.isNaN(fromBits(dtype, bits))) found++;
    expect(found).toBe(count);
  });

  test("bfloat16 is the upper half of float32", () => {
    const view = new DataView(new ArrayBuffer(4));
    for (let bits = 0; bits < 65536; bits++) {
      view.setUint32(0, bits * 65536);
      const wanted = view.getFloat32(0);
      if (!Object.is(fromBits("bfloat16", bits), wanted)) expect.fail(`0x${bits.toString(16)}`);
    }
  });

  test("float32 agrees with the machine's own on a walk over its bits", () => {
    const view = new DataView(new ArrayBuffer(4));
    for (let bits = 0; bits < 2 ** 32; bits += 104729) {
      view.setUint32(0, bits);
      const wanted = view.getFloat32(0);
      if (!Object.is(fromBits("float32", bits), wanted)) expect.fail(`0x${bits.toString(16)}`);
      if (!Number.isNaN(wanted) && toBits("float32", wanted) !== bits) expect.fail(`${wanted}`);
    }
  });

  test.each([
    ["float16", 1, 0x3c00],
    ["float16", -2, 0xc000],
    ["float16", 65504, 0x7bff],
    ["float16", 2 ** -14, 0x0400],
    ["float16", 2 ** -24, 0x0001],
    ["float16", -0, 0x8000],
    ["float16", Infinity, 0x7c00],
    ["float16", -Infinity, 0xfc00],
    ["bfloat16", 1, 0x3f80],
    ["bfloat16", 3.3895313892515355e38, 0x7f7f],
    ["bfloat16", 2 ** -133, 0x0001],
    ["bfloat16", -Infinity, 0xff80],
    ["float32", 0.1, 0x3dcccccd],
    ["float32", 2 ** -149, 0x00000001],
    ["float32", Infinity, 0x7f800000],
  ] as const)("%s %d", (dtype, value, bits) => {
    expect(toBits(dtype, value)).toBe(bits);
    expect(fromBits(dtype, bits)).toBe(dtype === "float32" ? Math.fround(value) : value);
  });

  test.each(all)("NaN of %s", (dtype) => {
    expect(toBits(dtype, NaN)).toBe(dtype === "float32" ? 0x7fc00000 : 0x7fff);
  });

  test.each([[-1], [65536], [0.5], [NaN]])("bits %d are refused", (bits) => {
    expect(() => fromBits("float16", bits)).toThrow(
      expect.objectContaining({
        code: "ERR_VALUE",
        message: `testing: expected bits from 0 to 2^16 - 1, got ${bits}`,
      }),
    );
  });
});

describe("roundTo", () => {
  test.each(sixteenBit)("%s: halfway between neighbours goes to the even one", (dtype) => {
    // Every finite positive pattern and its successor; the midpoint of two is exact in float64.
    const infinity = toBits(dtype, Infinity);
    for (let bits = 0; bits < infinity - 1; bits++) {
      const [below, above] = [fromBits(dtype, bits), fromBits(dtype, bits + 1)];
      const middle = (below + above) / 2;
      const even = bits % 2 === 0 ? below : above;
      const nudge = (above - below) / 1024;
      for (const sign of [1, -1]) {
        const rounded = [middle, middle - nudge, middle + nudge].map((x) =>
          roundTo(dtype, sign * x),
        );
        const wanted = [sign * even, sign * below, sign * above];
        if (rounded.some((x, i) => !Object.is(x, wanted[i]))) expect.fail(`0x${bits.toString(16)}`);
      }
    }
  });

  test.each([
    // 1 + 2^-11 is the tie above 1; a float64 just above it would be the tie after rounding to
    // float32 first, and then go down.
    ["float16", 1 + 2 ** -11 + 2 ** -40, 1 + 2 ** -10],
    ["bfloat16", 1 + 2 ** -8 + 2 ** -40, 1 + 2 ** -7],
    ["float16", 65519.999, 65504],
    ["float16", 65520, Infinity],
    ["float16", -65520, -Infinity],
    ["float16", 2 ** -25, 0],
    ["float16", 2 ** -25 * (1 + 2 ** -40), 2 ** -24],
    ["float16", 3 * 2 ** -25, 2 ** -23],
    ["bfloat16", 1e-45, 0],
    ["bfloat16", 3.4e38, Infinity],
    ["bfloat16", 1e300, Infinity],
    ["float32", 1 + 2 ** -24, 1],
    ["float32", 0.1, Math.fround(0.1)],
    ["float32", 1e300, Infinity],
    ["float32", 5e-324, 0],
  ] as const)("%s of %d is %d, once", (dtype, x, wanted) => {
    expect(roundTo(dtype, x)).toBe(wanted);
  });

  test("float32 agrees with Math.fround over the exponents of float64", () => {
    for (let exponent = -1074; exponent <= 1023; exponent++) {
      for (const mantissa of [1, 1.1, 1 + 2 ** -24, 1 + 2 ** -23 + 2 ** -24, 1.9999999999]) {
        const x = mantissa * 2 ** exponent;
        expect(roundTo("float32", x)).toBe(Math.fround(x));
        expect(roundTo("float32", -x)).toBe(Math.fround(-x));
      }
    }
  });

  test.each(all)("%s passes NaN, infinities and both zeros", (dtype) => {
    for (const x of [NaN, Infinity, -Infinity, 0, -0]) expect(roundTo(dtype, x)).toBe(x);
    expect(roundTo(dtype, -1e-60)).toBe(-0);
  });

  test("an integer dtype is refused", () => {
    expect(() => roundTo("int32" as FloatDType, 1)).toThrow(
      expect.objectContaining({
        name: "TypeError",
        code: "ERR_DTYPE",
        message: "testing: expected dtype float32, float16 or bfloat16, got int32",
      }),
    );
  });
});

describe("roundAll", () => {
  test("rounds each element", () => {
    const rounded = roundAll("float16", [0.1, 70000, -0]);
    expect(rounded).toEqual(Float64Array.of(0.0999755859375, Infinity, -0));
  });
});
