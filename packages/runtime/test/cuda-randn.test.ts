import { describe, expect, test } from "vitest";
import { explain, type FloatDType, isAvailable, randn } from "../src/index.js";

const device = "cuda:0";
const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;
const dtypes: FloatDType[] = ["float32", "float16", "bfloat16"];

// Around a block of four, a vector of four or eight, and a thread block's vectors.
const counts = [0, 1, 3, 4, 5, 7, 8, 9, 1023, 1024, 1025, 2047, 2049];

describe.skipIf(!isAvailable("cuda"))(`cuda, randn${missing}`, () => {
  const both = dtypes.flatMap((dtype) => counts.map((count) => [count, dtype] as const));
  test.each(both)("%d of %s have the CPU's bits", async (count, dtype) => {
    const options = { seed: 5, dtype };
    const there = randn([count], { ...options, device });
    expect([there.device, there.dtype, there.shape]).toEqual([device, dtype, [count]]);
    const wanted = await randn([count], options).bytes();
    expect(Buffer.compare(await there.bytes(), wanted)).toBe(0);
  });

  test.each(dtypes)("a million of %s have the CPU's bits", async (dtype) => {
    for (const seed of [0n, -1n, 0x9e3779b97f4a7c15n]) {
      const options = { seed, dtype };
      const found = await randn([1_000_003], { ...options, device }).bytes();
      const wanted = await randn([1_000_003], options).bytes();
      expect(Buffer.compare(found, wanted)).toBe(0);
    }
  });

  // Unrounded it is one bit above the middle of two float32 numbers, and is their middle if
  // products are fused with sums; one element in billions tells.
  test("an element that would differ in fused arithmetic has the CPU's bits", async () => {
    const options = { seed: 467_962, device } as const;
    const bytes = await randn([3446], options).narrow(0, 3445, 1).bytes();
    expect(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)).toBe(0x3f96a7e1);
  });

  test.each(dtypes)("an element of %s depends on its index alone", async (dtype) => {
    const options = { seed: 6, dtype, device } as const;
    const long = randn([2, 3001], options).flatten();
    for (const count of [5, 3002]) {
      const wanted = await randn([count], options).bytes();
      expect(Buffer.compare(await long.narrow(0, 0, count).bytes(), wanted)).toBe(0);
    }
  });
});
