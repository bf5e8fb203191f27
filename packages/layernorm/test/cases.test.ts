// Faults that users of comparable kernels reported; the number after LN- is ours.
import { arange, full, ones, randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import { bitsOf, expectClose, floatDTypes, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { addLayernorm, layernorm } from "../src/index.js";
import { expectLayernorm, randomAffine } from "./support.js";

// What a block reads again: more than 131072 of float32.
const longest = isEmulated ? 132_000 : 300_000;

// For each way a row is shared out: a warp, a block, a cluster, a block that reads it again.
const everyWay = [64, 4097, 40_000, longest];

describe.each(testDevices())("reported faults on %s", (device) => {
  const bf16 = { dtype: "bfloat16", device } as const;
  const fp16 = { dtype: "float16", device } as const;
  const fp32 = { dtype: "float32", device } as const;

  /** Normal values of another spread and mean, rounded to the dtype. */
  const shifted = (shape: number[], scale: number, shift: number, place = fp32): Tensor => {
    const values = randn(shape, { seed: 1 }).dataSync() as Float32Array;
    return tensor(
      values.map((value) => scale * value + shift),
      { shape, ...place },
    );
  };
  const stats = (rows: number) => ({
    mean: zeros([rows], { device }),
    rstd: zeros([rows], { device }),
  });

  test.each([
    ["a thousandth of a percent", [isEmulated ? 3 : 64, 32_768], 0.01, 100],
    ["short rows", [5, 4], 1, 2000],
    ["a spread of one unit in the last place", [3, 5000], 2, 2 ** 24],
    ["the same, a row to a cluster", [2, 70_000], 2, 2 ** 24],
    ["the same, a row read again", [2, longest], 2, 2 ** 24],
  ] as const)("LN-01: a mean far beyond the spread: %s", (_, shape, scale, shift) => {
    const x = shifted([...shape], scale, shift);
    const given = stats(shape[0]);
    const out = expectLayernorm(x, {}, given);
    const rows = valuesOf(out);
    const squares = rows.reduce((sum, y) => sum + y * y, 0) / rows.length;
    if (shape[1] > 100) expect(squares).toBeCloseTo(1, scale < 0.1 ? 0 : 4);
  });

  test.each(everyWay)("LN-01: neighbouring floats, %i of them", (size) => {
    const [low, high] = [Math.fround(0.1), Math.fround(0.1) + 2 ** -27];
    const values = Array.from({ length: size }, (_, i) => (i % 2 ? high : low));
    expectLayernorm(tensor([values], fp32), {}, { eps: 0, ...stats(1) });
  });

  test("LN-02: 40000 to 40003, and all of it 40000 higher", () => {
    const wanted = [-1.34163542, -0.44721181, 0.44721181, 1.34163542];
    for (const shift of [0, 40_000]) {
      const x = tensor([[40_000, 40_001, 40_002, 40_003].map((v) => v + shift)], fp32);
      const out = layernorm(x, ones([4], fp32), zeros([4], fp32));
      expectClose(out, wanted, { atol: 1e-7 });
    }
  });

  test("LN-03: a constant row is exactly the bias", async () => {
    const rows: [value: number, size: number, place: typeof fp32 | typeof fp16][] = [
      [1234, 256, fp32],
      [0.1, 255, fp32],
      [1e-20, 255, fp32],
      [65_504, 4096, fp16],
      [0.1, 4095, fp16],
      ...everyWay.map((size): [number, number, typeof fp32] => [-0.7, size, fp32]),
      ...everyWay.map((size): [number, number, typeof fp32] => [3.3e38, size, fp32]),
    ];
    for (const [value, size, place] of rows) {
      const x = full([2, size], value, place);
      const given = stats(2);
      expect(valuesOf(layernorm(x, null, null, given)).every((y) => y === 0)).toBe(true);
      expectClose(given.mean, valuesOf(x.select(1, 0)), { ulps: 0 });
      const { weight, bias } = randomAffine(size, place);
      const out = layernorm(x, weight, bias);
      expect((await bitsOf(out.select(0, 1))) === (await bitsOf(bias))).toBe(true);
    }
  });

  test("LN-06: 32 integers above six million", async () => {
    const x = arange(6_399_968, 6_400_000, 1, fp32).view([1, 32]);
    const out = await expectLayernorm(x, {}, stats(1)).data();
    expect(out[0]).toBeCloseTo(-1.678744, 5);
    expect(out[31]).toBeCloseTo(1.678744, 5);
  });

  test("LN-07: what pads a row to whole vectors takes no part", async () => {
    const [low, middle, high] = await layernorm(tensor([[10, 11, 12]], fp32)).data();
    expect([low, middle, high]).toEqual([
      expect.closeTo(-1.224736, 5),
      0,
      expect.closeTo(1.224736, 5),
    ]);
    for (const place of [fp32, fp16, bf16]) {
      for (const size of [3, 17, 127, 255, 768, 1536]) {
        expectLayernorm(shifted([3, size], 1, 10, place as typeof fp32), {}, stats(3));
      }
    }
  });

  test("LN-11: a row's bits do not depend on the rows behind it", async () => {
    const shape = isEmulated ? [2, 9, 768] : [24, 493, 768];
    const x = randn(shape, { seed: 1, ...bf16 });
    const fewer = layernorm(x.narrow(0, 0, shape[0]! - 1));
    const all = layernorm(x).narrow(0, 0, shape[0]! - 1);
    expect((await bitsOf(all)) === (await bitsOf(fewer))).toBe(true);
  });

  test("LN-12: a variance beyond float16", () => {
    const values = Array.from({ length: 256 }, (_, i) => (i % 2 ? -496.4 : 496.4));
    const given = stats(1);
    const out = layernorm(tensor([values], fp16), null, null, given);
    expect(new Set(valuesOf(out))).toEqual(new Set([1, -1]));
    expectClose(given.rstd, [1 / valuesOf(tensor([496.4], fp16))[0]!], { rtol: 6e-6 });
    expectLayernorm(shifted([4, 512], 9000, 0, fp16 as never), randomAffine(512, fp16));
  });

  test("LN-14: a row of one element is exactly the bias", async () => {
    for (const place of [fp32, fp16, bf16]) {
      const out = layernorm(
        randn([16, 1], { seed: 1, ...place }),
        full([1], 2, place),
        full([1], 3, place),
      );
      expect(await out.data()).toEqual(new Float32Array(16).fill(3));
    }
  });

  test("LN-15: float32 parameters four bytes into their memory", async () => {
    const x = randn([3, 5120], { seed: 1, ...bf16 });
    const { weight, bias } = randomAffine(5120, fp32);
    const moved = [weight, bias].map((t) => zeros([5121], fp32).narrow(0, 1, 5120).copyFrom(t));
    const wanted = await bitsOf(expectLayernorm(x, { weight, bias }));
    expect(await bitsOf(layernorm(x, ...moved))).toBe(wanted);
  });

  test("LN-19: equal values of 1e15 give zeros", async () => {
    const x = tensor([[1e15, 1e15 + 1, 1e15 + 2, 1e15 + 3, 1e15 + 4]], fp32);
    expect(await layernorm(x).data()).toEqual(new Float32Array(5));
  });

  test("LN-21: parameters behind x in one buffer stay what they are", async () => {
    for (const size of [5, 96, 769, 4097]) {
      const buffer = randn([4 * size], { seed: 1, ...bf16 });
      const [x, weight, bias] = [0, 2, 3].map((at) =>
        buffer.narrow(0, at * size, at ? size : 2 * size),
      );
      const before = await bitsOf(buffer.narrow(0, 2 * size, 2 * size));
      layernorm(x!.view([2, size]), weight, bias, { out: x!.view([2, size]) });
      expect(await bitsOf(buffer.narrow(0, 2 * size, 2 * size))).toBe(before);
    }
  });

  test.each([
    ["float32", 1e25],
    ["float32", 3.4e38],
    ["float32", 1e-20],
    ["float32", 1e-25],
    ["float32", 1e-38],
    ["bfloat16", 1e20],
    ["bfloat16", 3.38e38],
    ["bfloat16", 1e-25],
  ] as const)("RN-17: squares beyond float32, above and below: %s %d", (dtype, magnitude) => {
    const eps = magnitude < 1 ? 0 : 1e-5;
    for (const hiddenSize of [2, ...everyWay]) {
      const signs = Float32Array.from({ length: hiddenSize }, (_, i) => (i % 2 ? -1 : 1));
      const x = tensor(
        signs.map((sign) => sign * magnitude),
        { shape: [1, hiddenSize], dtype, device },
      );
      const given = stats(1);
      const odd = hiddenSize % 2;
      const scale = Math.abs(valuesOf(x)[0]!);
      // With one more of the first sign the mean is off by its share.
      const mean = odd / hiddenSize;
      const spread = Math.sqrt(1 - mean * mean);
      const wanted = signs.map((sign) => (sign - mean) / spread);
      // On the CPU 1024 squares are summed in float32, one by one where nothing is vectorised.
      const tolerance = { rtol: 1.2e-5, ulps: dtype === "bfloat16" ? 0.5 : 0 };
      expectClose(layernorm(x, null, null, { eps, ...given }), wanted, tolerance);
      expectClose(given.rstd, [1 / scale / spread], { rtol: 1e-5, atol: 2 ** -149 });
      expectClose(given.mean, [mean * scale], { rtol: 1e-5, atol: 1e-6 * scale });
      // In place: a row that is looked at again must not add its residual again.
      const [half, residualOut] = [1, 2].map(() =>
        tensor(
          signs.map((sign) => (sign * magnitude) / 2),
          { shape: [1, hiddenSize], dtype, device },
        ),
      );
      const sum = addLayernorm(half!, residualOut!, null, null, { eps, residualOut: residualOut! });
      expectClose(sum.residual, valuesOf(x), { rtol: 1e-6, atol: 2 ** -149 });
      expectClose(sum.out, wanted, tolerance);
    }
  });

  test("RN-17: without eps a constant row is 0 / 0, and its neighbours are what they are", () => {
    for (const dtype of floatDTypes) {
      for (const value of [0, 1, 100]) {
        const x = full([3, 96], value, { dtype, device });
        x.narrow(0, 1, 1)
          .narrow(1, 0, 48)
          .fill(value + 2);
        const given = stats(3);
        const out = valuesOf(layernorm(x, null, null, { eps: 0, ...given }));
        expect([...out.subarray(0, 96)].every(Number.isNaN)).toBe(true);
        expect(new Set(out.subarray(96, 192))).toEqual(new Set([1, -1]));
        expect([...valuesOf(given.mean)]).toEqual([value, value + 1, value]);
        expect([...valuesOf(given.rstd)]).toEqual([Infinity, 1, Infinity]);
      }
    }
  });

  test("a row of four million keeps its precision, and a constant one is exact", async () => {
    const size = (isEmulated ? 2 ** 19 : 2 ** 22) + 1;
    const given = stats(1);
    expectLayernorm(shifted([1, size], 0.25, 1.1), {}, given);
    const constant = layernorm(full([1, size], 1.1, fp32), null, null, given);
    expect((await constant.data()).every((y) => y === 0)).toBe(true);
    expectClose(given.mean, [Math.fround(1.1)], { ulps: 0 });
  });
});
