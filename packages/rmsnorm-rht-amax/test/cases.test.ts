// Faults that users of comparable transforms and amaxes reported; the number after HD- is ours.
import { full, ones, randn, tensor, zeros } from "@warpwright/runtime";
import {
  bitsOf,
  expectClose,
  floatDTypes,
  stridedRows,
  testDevices,
  tolerances,
  valuesOf,
} from "@warpwright/testing";
import { randomParameter } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { rmsnormRhtAmax } from "../src/index.js";
import { rmsnormRhtAmaxReference } from "./reference.js";
import { expectRmsnormRhtAmax } from "./support.js";

/** Sylvester's matrix, by doubling. */
function sylvester(): number[][] {
  let matrix = [[1]];
  while (matrix.length < 16) {
    const [top, bottom] = [1, -1].map((sign) =>
      matrix.map((row) => [...row, ...row.map((value) => sign * value)]),
    );
    matrix = [...top!, ...bottom!];
  }
  return matrix;
}

describe.each(testDevices())("reported faults of transforms on %s", (device) => {
  const bf16 = { dtype: "bfloat16", device } as const;
  const fp32 = { dtype: "float32", device } as const;

  test.each(floatDTypes)("HD-01, HD-02: unit vectors give the dense matrix, %s", (dtype) => {
    // Of 16 columns out of 48 one is 1: the rms is 1 / sqrt(48), which the weight takes back.
    for (const block of [0, 1, 2]) {
      const rows = Array.from({ length: 16 }, (_, i) =>
        Array.from({ length: 48 }, (__, j) => (j === 16 * block + i ? 1 : 0)),
      );
      const x = tensor(rows, { dtype, device });
      const weight = full([48], 4 / Math.sqrt(48), { ...fp32 });
      const out = valuesOf(rmsnormRhtAmax(x, weight, { eps: 0 }).out);
      const rounded = Array.from(out, (value) => Math.round(value * 1024) / 1024);
      const wanted = sylvester().flatMap((row) => [
        ...new Array(16 * block).fill(0),
        ...row,
        ...new Array(32 - 16 * block).fill(0),
      ]);
      expect(rounded).toEqual(wanted.map((value) => value + 0));
    }
  });

  test.each([16, 768, 4096])("HD-02: the norm is preserved, %i columns", (hiddenSize) => {
    const x = randn([3, hiddenSize], { seed: 1, ...fp32 });
    const { out } = rmsnormRhtAmax(x, ones([hiddenSize], fp32), { eps: 0 });
    for (let row = 0; row < 3; row++) {
      const squares = valuesOf(out.select(0, row)).reduce((sum, y) => sum + y * y, 0);
      expect(Math.abs(squares / hiddenSize - 1)).toBeLessThan(1e-5);
    }
  });

  test.each([64, 128, 256, 512])("HD-05: rows apart, out a view, %i columns", async (size) => {
    for (const dtype of floatDTypes) {
      const x = stridedRows(randn([13, size], { seed: 1, dtype, device }), 16);
      const out = zeros([13, 3 * size], { dtype, device }).narrow(1, size, size);
      const weight = randomParameter([size], { dtype, device });
      expectRmsnormRhtAmax(x, weight, { out });
      const dense = rmsnormRhtAmax(x.contiguous(), weight);
      expect(await bitsOf(out)).toBe(await bitsOf(dense.out));
    }
  });

  test("HD-06: blocks are apart, and what shares x's memory is left alone", async () => {
    const k = randn([4, 576], { seed: 1, ...bf16 });
    const v = k.narrow(1, 0, 512);
    const before = await bitsOf(k);
    const weight = ones([512], bf16);
    const { out } = expectRmsnormRhtAmax(v, weight);
    expect(await bitsOf(k)).toBe(before);
    const sparse = zeros([1, 512], bf16);
    sparse.narrow(1, 160, 16).fill(2);
    const touched = [...valuesOf(rmsnormRhtAmax(sparse, weight).out)].flatMap((y, i) =>
      y === 0 ? [] : [i],
    );
    expect(touched).toEqual([160]);
    expect(out.shape).toEqual([4, 512]);
  });

  test.each(floatDTypes)("HD-09: the amax of zeros is exactly 0, %s", (dtype) => {
    const x = zeros([6, 256], { dtype, device });
    const weight = randomParameter([256], { dtype, device });
    const { out, amax } = rmsnormRhtAmax(x, weight, { rowsPerCta: 2 });
    expect([...valuesOf(amax)]).toEqual([0, 0, 0]);
    expect(valuesOf(out).every((value) => value === 0)).toBe(true);
    // A block of zeros among large ones, and eps 0, which makes 0 / 0 of rows of zeros alone.
    const large = full([1, 64], 1000, { dtype, device });
    large.narrow(1, 16, 16).fill(0);
    const mixed = rmsnormRhtAmax(large, ones([64], { dtype, device }), { eps: 0 });
    expect(
      valuesOf(mixed.out)
        .subarray(16, 32)
        .every((value) => value === 0),
    ).toBe(true);
    const nothing = rmsnormRhtAmax(x, weight, { eps: 0 });
    expect(valuesOf(nothing.out).every(Number.isNaN)).toBe(true);
    expect(valuesOf(nothing.amax).every(Number.isNaN)).toBe(true);
  });

  test.each([1e-38, 2 ** -149, 1e-20, 1e19, 3e38])("HD-10: an amax of about %d", (size) => {
    // The weight makes it, in the one column that is not 0.
    const x = zeros([2, 16], fp32);
    x.narrow(1, 3, 1).fill(1);
    const weight = full([16], size, fp32);
    const { out, amax } = rmsnormRhtAmax(x, weight, { eps: 0 });
    const wanted = valuesOf(weight)[0]!;
    expect([...valuesOf(amax)]).toEqual([wanted]);
    expect(valuesOf(out).every((value) => Math.abs(value) === wanted)).toBe(true);
  });

  test("HD-11: x is only read", async () => {
    const x = randn([8, 768], { seed: 1, ...bf16 });
    const before = await bitsOf(x);
    const { out } = rmsnormRhtAmax(x, ones([768], bf16));
    expect(out).not.toBe(x);
    expect(await bitsOf(x)).toBe(before);
  });

  // The longest is what a GPU reads twice.
  const longest = isEmulated || device === "cpu" ? [] : [300_000];
  const lengths = [16, 768, 4112, 40_000, ...longest];
  test.each(lengths)("HD-12, C-9: NaN and infinity in an amax, %i columns", (size) => {
    for (const dtype of floatDTypes) {
      for (const column of [0, 5, size - 1]) {
        const x = randn([6, size], { seed: 1, dtype, device });
        x.select(0, 2).narrow(0, column, 1).fill(Number.NaN);
        x.select(0, 5).narrow(0, column, 1).fill(Number.POSITIVE_INFINITY);
        const weight = ones([size], { dtype, device });
        const options = { rowsPerCta: 2 };
        const propagated = valuesOf(expectRmsnormRhtAmax(x, weight, options).amax);
        expect([...propagated].map(Number.isNaN)).toEqual([false, true, true]);
        expectRmsnormRhtAmax(x, weight, { ...options, nan: "ignore" });
        const alone = rmsnormRhtAmax(x.narrow(0, 2, 1), weight, { nan: "ignore" });
        expect([...valuesOf(alone.amax)]).toEqual([0]);
      }
    }
  });

  test("HD-12: an infinity that the weight makes stays one", () => {
    const weight = ones([64], fp32);
    weight.narrow(0, 20, 1).fill(Number.POSITIVE_INFINITY);
    const x = randn([2, 64], { seed: 1, ...fp32 });
    for (const nan of ["propagate", "ignore"] as const) {
      const { out, amax } = rmsnormRhtAmax(x, weight, { rowsPerCta: 1, nan });
      expect([...valuesOf(amax)]).toEqual([Infinity, Infinity]);
      const block = valuesOf(out).subarray(16, 32);
      expect(block.every((value) => Math.abs(value) === Infinity)).toBe(true);
    }
  });

  test("HD-14: the scale comes before what could overflow", () => {
    // Sums of 16 of these are beyond float16, and beyond float32, a quarter of them is not.
    const half = full([1, 16], 1, { dtype: "float16", device });
    const big = rmsnormRhtAmax(half, full([16], 16_000, { dtype: "float16", device }), { eps: 0 });
    expect([valuesOf(big.out)[0], valuesOf(big.amax)[0]]).toEqual([64_000, 64_000]);
    const single = rmsnormRhtAmax(full([1, 16], 1, fp32), full([16], 8e37, fp32), { eps: 0 });
    expect(valuesOf(single.out)[0]! / 3.2e38).toBeCloseTo(1, 5);
    const beyond = rmsnormRhtAmax(half, full([16], 16_992, { dtype: "float16", device }), {
      eps: 0,
    });
    expect([valuesOf(beyond.out)[0], valuesOf(beyond.amax)[0]]).toEqual([Infinity, 67_968]);
  });

  test.each([128, 7168])("HD-15: errors do not drift, twice is the identity, %i", (size) => {
    const x = randn([4, size], { seed: 1, ...bf16 });
    const weight = ones([size], bf16);
    const { out } = rmsnormRhtAmax(x, weight, { eps: 0 });
    const wanted = rmsnormRhtAmaxReference(valuesOf(x), valuesOf(weight), { eps: 0 }).out;
    let [error, total] = [0, 0];
    valuesOf(out).forEach((value, i) => {
      error += (value - wanted[i]!) ** 2;
      total += wanted[i]! ** 2;
    });
    // Of one rounding to bfloat16, 2^-9 / sqrt(3) at the least favourable.
    expect(Math.sqrt(error / total)).toBeLessThan(2e-3);
    const exact = randn([4, size], { seed: 2, ...fp32 });
    const once = rmsnormRhtAmax(exact, ones([size], fp32), { eps: 0 }).out;
    const twice = rmsnormRhtAmax(once, ones([size], fp32), { eps: 0 }).out;
    const norms = valuesOf(exact);
    for (let row = 0; row < 4; row++) {
      const values = norms.subarray(row * size, (row + 1) * size);
      const rms = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / size);
      for (let i = 0; i < size; i++) values[i]! /= rms;
    }
    expectClose(twice, norms, tolerances.roundedOnce.float32);
  });

  test("HD-16: the amax is the transform's, signs negate what comes in", async () => {
    const [x, weight] = [ones([1, 16], fp32), ones([16], fp32)];
    expect([...valuesOf(rmsnormRhtAmax(x, weight, { eps: 0 }).amax)]).toEqual([4]);
    const row = tensor([sylvester()[5]!], fp32);
    const { out, amax } = rmsnormRhtAmax(row, weight, { eps: 0 });
    expect([valuesOf(amax)[0], valuesOf(out)[5]]).toEqual([4, 4]);
    const normal = randn([4, 96], { seed: 1, ...bf16 });
    const all = rmsnormRhtAmax(normal, ones([96], bf16), { signs: 0xffff });
    const none = rmsnormRhtAmax(normal, ones([96], bf16));
    expect([...valuesOf(all.out)]).toEqual([...valuesOf(none.out)].map((value) => -value));
    expect(await bitsOf(all.amax)).toBe(await bitsOf(none.amax));
  });

  test.each([17, 129])("HD-16: %i rows, and an amax that held something else", (rows) => {
    const x = randn([rows, 272], { seed: 1, ...bf16 });
    const weight = randomParameter([272], bf16);
    for (const garbage of [1e30, Number.NaN, Number.POSITIVE_INFINITY, -1]) {
      const amax = full([rows], garbage, fp32);
      expectRmsnormRhtAmax(x, weight, { amax });
    }
  });
});
