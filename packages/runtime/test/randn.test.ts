import { describe, expect, test } from "vitest";
import { type FloatDType, randn } from "../src/index.js";
import { bfloat16, float16, nearest } from "./half.js";
import { normalCdf, normals, philox } from "./normals.js";

// Computed in float64 within this of the exact value, relatively, before they are rounded.
const accuracy = 1e-15;

const rounding: [FloatDType, (x: number) => number][] = [
  ["float32", Math.fround],
  ["float16", (x) => nearest(x, float16)],
  ["bfloat16", (x) => nearest(x, bfloat16)],
];

/** Elements as numbers, or as bits of a 16-bit dtype. */
async function elementsOf(dtype: FloatDType, count: number, seed: bigint): Promise<number[]> {
  const { buffer } = Uint8Array.from(await randn([count], { seed, dtype }).bytes());
  return Array.from(dtype === "float32" ? new Float32Array(buffer) : new Uint16Array(buffer));
}

describe("randn", () => {
  test("is the same for a seed, whatever the shape", async () => {
    const long = await randn([1000], { seed: 7 }).data();
    expect(await randn([10], { seed: 7n }).data()).toEqual(long.slice(0, 10));
    expect(await randn([3, 5], { seed: 7 }).data()).toEqual(long.slice(0, 15));
    expect(await randn([10], { seed: 8 }).data()).not.toEqual(long.slice(0, 10));
  });

  test("differs from call to call without a seed", async () => {
    expect(await randn([8]).data()).not.toEqual(await randn([8]).data());
  });

  test("negative seeds count as 64 bits", async () => {
    const data = await randn([4], { seed: -1 }).data();
    expect(await randn([4], { seed: (1n << 64n) - 1n }).data()).toEqual(data);
  });

  // Whoever has written a seed down relies on these numbers.
  test.each<[FloatDType, bigint, number[]]>([
    ["float32", 1n, [0x3ec2c3e3, 0xbe97b1bc, 0xbe7f370c, 0xbf807dbd, 0x3f207fa8, 0xbf97dc0c]],
    ["float16", 1n, [0x3616, 0xb4be, 0xb3fa, 0xbc04, 0x3904, 0xbcbf]],
    ["bfloat16", 1n, [0x3ec3, 0xbe98, 0xbe7f, 0xbf80, 0x3f20, 0xbf98]],
    [
      "float32",
      0x0123456789abcdefn,
      [0x3de16bed, 0xbf4d97ec, 0xc00e4db4, 0x3e9a0fb4, 0xbec317b0, 0x3f3a1c6a],
    ],
    ["float16", 0x0123456789abcdefn, [0x2f0b, 0xba6d, 0xc072, 0x34d0, 0xb619, 0x39d1]],
    ["bfloat16", 0x0123456789abcdefn, [0x3de1, 0xbf4e, 0xc00e, 0x3e9a, 0xbec3, 0x3f3a]],
  ])("%s of seed %d never changes", async (dtype, seed, wanted) => {
    const { buffer } = Uint8Array.from(await randn([1_000_003], { seed, dtype }).bytes());
    const bits = dtype === "float32" ? new Uint32Array(buffer) : new Uint16Array(buffer);
    expect([0, 1, 2, 3, 4, 1_000_002].map((i) => bits[i])).toEqual(wanted);
  });

  // The CUDA suite says why this one.
  test("an element that would differ in fused arithmetic never changes", async () => {
    const elements = await elementsOf("float32", 3446, 467_962n);
    expect(elements.at(-1)).toBe(0x96a7e1 / 2 ** 23);
  });

  test.each(rounding)("%s is the formula's value, rounded once", async (dtype, round) => {
    for (const seed of [0n, 1n, 2n ** 32n, 0xfedcba9876543210n]) {
      const wanted = normals(seed, 10_001);
      const found = await elementsOf(dtype, wanted.length, seed);
      const wrong = found.filter((x, i) => {
        const [low, high] = [wanted[i]! * (1 - accuracy), wanted[i]! * (1 + accuracy)];
        return x !== round(low) && x !== round(high);
      });
      expect(wrong).toEqual([]);
    }
  });
});

describe("distribution of randn", () => {
  const count = 200_000;

  test.each([1, 2, 2 ** 40])("moments of seed %d", async (seed) => {
    const data = Float64Array.from(await randn([count], { seed }).data());
    const moment = (power: number) => data.reduce((sum, x) => sum + x ** power, 0) / count;
    // Each estimate's deviation over its standard error: var(x^k) = E(x^2k) - E(x^k)^2.
    const deviations = [
      moment(1) / Math.sqrt(1 / count),
      (moment(2) - 1) / Math.sqrt(2 / count),
      moment(3) / Math.sqrt(15 / count),
      (moment(4) - 3) / Math.sqrt(96 / count),
    ];
    for (const deviation of deviations) expect(Math.abs(deviation)).toBeLessThan(4);
  });

  // Kolmogorov and Smirnov's test; of truly normal numbers one seed in a thousand exceeds it.
  test.each([1, 2, 2 ** 40])("distance from the normal distribution, seed %d", async (seed) => {
    const sorted = Float64Array.from(await randn([count], { seed }).data()).sort();
    const distance = sorted.reduce((most, x, i) => {
      const wanted = normalCdf(x);
      return Math.max(most, wanted - i / count, (i + 1) / count - wanted);
    }, 0);
    expect(distance).toBeLessThan(1.95 / Math.sqrt(count));
  });

  test("neighbours are uncorrelated, in a pair and beyond it", async () => {
    const data = Float64Array.from(await randn([count], { seed: 3 }).data());
    for (const lag of [1, 2, 3, 4, 8]) {
      const sum = data.reduce((total, x, i) => total + x * (data[i + lag] ?? 0), 0);
      expect(Math.abs(sum / Math.sqrt(count))).toBeLessThan(4);
    }
  });
});

// Of the Random123 distribution's kat_vectors, "philox4x32 10".
test.each<[string, number[], number[], number[]]>([
  ["zeros", [0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
  [
    "ones",
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  ],
  [
    "digits of pi",
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  ],
])("the tests' own Philox, of %s", (_, counter, key, wanted) => {
  expect(philox(counter, key)).toEqual(wanted);
});
