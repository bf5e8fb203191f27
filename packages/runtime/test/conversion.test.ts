import { describe, expect, test } from "vitest";
import { type DType, fromBytes, full, tensor } from "../src/index.js";
import { bfloat16, float16, nearest, numberOf } from "./half.js";

const halves = [
  ["float16", float16],
  ["bfloat16", bfloat16],
] as const;
const patterns = Uint16Array.from({ length: 65536 }, (_, i) => i);

const inf = Number.POSITIVE_INFINITY;
const nan = Number.NaN;
const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

describe("16-bit floats", () => {
  test.each(halves)("all patterns of %s widen exactly", async (dtype, format) => {
    const data = await tensor(patterns, { dtype }).data();
    const wrong = patterns.filter((bits) => !Object.is(data[bits], numberOf(bits, format)));
    expect(wrong).toEqual(new Uint16Array(0));
  });

  test.each(halves)(
    "all patterns of %s survive the way to float32 and back",
    async (dtype, format) => {
      const x = tensor(patterns, { dtype });
      const back = new Uint16Array((await x.to("float32").to(dtype).bytes()).buffer);
      const wrong = patterns.filter(
        (bits) => back[bits] !== bits && !Number.isNaN(numberOf(bits, format)),
      );
      expect(wrong).toEqual(new Uint16Array(0));
    },
  );

  test.each(halves)(
    "%s rounds to nearest even, from float64 and from float32",
    async (dtype, format) => {
      const values = samples(format);
      const wanted = values.map((value) => nearest(value, format));
      const from64 = await tensor(values, { dtype }).bytes();
      expect(new Uint16Array(from64.buffer)).toEqual(Uint16Array.from(wanted));

      const singles = Float32Array.from(values);
      const from32 = await tensor(singles, { dtype }).bytes();
      const wanted32 = Array.from(singles, (value) => nearest(value, format));
      expect(new Uint16Array(from32.buffer)).toEqual(Uint16Array.from(wanted32));
    },
  );

  test("one becomes the other by way of its value", async () => {
    const x = tensor(patterns, { dtype: "bfloat16" });
    const bits = new Uint16Array((await x.to("float16").bytes()).buffer);
    const wrong = patterns.filter((i) => {
      const value = numberOf(i, bfloat16);
      return bits[i] !== nearest(value, float16) && !Number.isNaN(value);
    });
    expect(wrong).toEqual(new Uint16Array(0));
  });
});

/** Numbers on, between and just beside the patterns of a format, and its limits. */
function samples(format: typeof float16): number[] {
  const values: number[] = [0, -0, inf, -inf, 1e300, -1e300, 5e-324, 65504, 65519.9, 65520];
  const infinity = nearest(inf, format);
  for (let bits = 0; bits < infinity - 1; bits += 97) {
    const [low, high] = [numberOf(bits, format), numberOf(bits + 1, format)];
    const middle = (low + high) / 2;
    for (const value of [low, middle, middle * (1 + 2 ** -50), middle * (1 - 2 ** -50)]) {
      values.push(value, -value);
    }
  }
  return values;
}

describe("conversions", () => {
  test.each<[DType, unknown[], DType, unknown[]]>([
    [
      "float32",
      [1.9, -1.9, nan, inf, -inf, 3e9, -0],
      "int32",
      [1, -1, 0, 2147483647, -2147483648, 2147483647, 0],
    ],
    ["float32", [1.9, -1.9, nan, inf, -inf], "int64", [1n, -1n, 0n, maxInt64, minInt64]],
    ["float32", [1.9, -1, nan, 300, inf], "uint8", [1, 0, 0, 255, 255]],
    ["float32", [0, -0, 0.1, nan, inf], "bool", [false, false, true, true, true]],
    ["float16", [1.5, -2.5], "int32", [1, -2]],
    ["bfloat16", [1.5, -2.5], "int64", [1n, -2n]],
    ["int32", [2 ** 31 - 1, -1, 16777217], "float32", [2147483648, -1, 16777216]],
    ["int32", [-1, 300], "int64", [-1n, 300n]],
    ["int32", [0, 5], "bool", [false, true]],
    ["int64", [maxInt64, -5n, 16777217n], "float32", [2 ** 63, -5, 16777216]],
    ["int64", [5n, 0n], "bool", [true, false]],
    ["uint8", [0, 255], "float16", [0, 255]],
    ["uint8", [0, 255], "bool", [false, true]],
    ["bool", [true, false], "float32", [1, 0]],
    ["bool", [true, false], "int64", [1n, 0n]],
    ["bool", [true, false], "uint8", [1, 0]],
  ])("%s %o to %s", async (from, values, to, wanted) => {
    const x = tensor(values as number[], { dtype: from }).to(to);
    expect(x.dtype).toBe(to);
    const found = (await x.tolist()) as unknown[];
    expect(found.map((v) => (Object.is(v, -0) ? 0 : v))).toEqual(wanted);
  });

  test("a bool of any non-zero byte is true", async () => {
    const x = fromBytes(new Uint8Array([0, 1, 2, 255]), { shape: [4], dtype: "bool" });
    expect(await x.tolist()).toEqual([false, true, true, true]);
    expect(await x.to("float32").tolist()).toEqual([0, 1, 1, 1]);
  });

  test("views convert to dense tensors", async () => {
    const x = tensor([
      [1, 2, 3],
      [4, 5, 6],
    ])
      .transpose()
      .to("int64");
    expect([x.strides, await x.tolist()]).toEqual([
      [2, 1],
      [
        [1n, 4n],
        [2n, 5n],
        [3n, 6n],
      ],
    ]);
  });

  test("large tensors convert in parallel to the same", async () => {
    const x = full([1000, 1003], 1 / 3);
    const wanted = numberOf(nearest(Math.fround(1 / 3), bfloat16), bfloat16);
    const data = await x.transpose().to("bfloat16").data();
    expect(data.every((value) => value === wanted)).toBe(true);
  });
});
