// Faults that users of comparable norms reported; the number after RN- is ours.
import { full, ones, randn, tensor, zeros } from "@warpwright/runtime";
import {
  bitsOf,
  expectClose,
  floatDTypes,
  poisoned,
  testDevices,
  tolerances,
  valuesOf,
  withCanaries,
} from "@warpwright/testing";
import { randomParameter } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { rmsnormRhtAmax } from "../src/index.js";
import { rmsnormRhtAmaxReference } from "./reference.js";
import { disposeAll, expectRmsnormRhtAmax } from "./support.js";

describe.each(testDevices())("reported faults of norms on %s", (device) => {
  const bf16 = { dtype: "bfloat16", device } as const;
  const fp16 = { dtype: "float16", device } as const;
  const fp32 = { dtype: "float32", device } as const;
  // More than a GPU's multiprocessors, or than the CPU's threads, take at once.
  const manyRows = isEmulated ? 7 : device === "cpu" ? 197 : 989;

  test.each([2304, 2816, 3328, 3584, 3840, 5376])(
    "RN-05: odd numbers of warps' worth of columns: %i",
    (hiddenSize) => {
      for (const place of [bf16, fp16]) {
        for (const rows of [1, 3, manyRows]) {
          const x = randn([rows, hiddenSize], { seed: rows, ...place });
          disposeAll(expectRmsnormRhtAmax(x, randomParameter([hiddenSize], place)));
        }
      }
    },
  );

  test.each([12_288, 12_304, 16_384, 32_768, 65_536])(
    "RN-06, HD-07: rows that outgrow default shared memory: float32 x %i",
    (hiddenSize) => {
      const x = randn([3, hiddenSize], { seed: 1, ...fp32 });
      expectRmsnormRhtAmax(x, randomParameter([hiddenSize], fp32));
      // XC-05: no error is left pending
      expectRmsnormRhtAmax(randn([1, 64], { seed: 1, ...fp32 }), ones([64], fp32));
    },
  );

  test.each([16, 48, 128, 144, 512, 528, 768, 784])(
    "RN-07: a row stays in its row, 50 times alike: %i columns",
    async (hiddenSize) => {
      const x = randn([7, hiddenSize], { seed: 0, ...fp16 });
      const weight = ones([hiddenSize], fp16);
      const first = await bitsOf(expectRmsnormRhtAmax(x, weight).out);
      for (const rowGuard of [0, 1, 8]) {
        const out = withCanaries(x.shape, { rowGuard, ...fp16 });
        const amax = withCanaries([7], { ...fp32, rowGuard: 0 });
        for (let run = 0; run < (isEmulated ? 2 : 50); run++) {
          rmsnormRhtAmax(x, weight, { out: out.tensor, amax: amax.tensor });
          expect(await bitsOf(out.tensor)).toBe(first);
        }
        await out.check();
        await amax.check();
      }
    },
  );

  test.each([2048, 3072, 4096, 5120, 6144, 7168, 8192])(
    "RN-08: every number of tokens at hidden size %i",
    (hiddenSize) => {
      const weight = randomParameter([hiddenSize], bf16);
      for (const tokens of isEmulated ? [1, 18] : [1, 256, 257, 512, 4096]) {
        const x = randn([tokens, hiddenSize], { seed: tokens, ...bf16 });
        const out = poisoned(x.shape, bf16);
        const { amax } = rmsnormRhtAmax(x, weight, { out, rowsPerCta: 1 });
        for (const row of [0, tokens >> 1, tokens - 1]) {
          const one = x.narrow(0, row, 1);
          const wanted = rmsnormRhtAmaxReference(valuesOf(one), valuesOf(weight));
          expectClose(out.narrow(0, row, 1), wanted.out, tolerances.roundedOnce.bfloat16);
          expectClose(amax.narrow(0, row, 1), wanted.amax, tolerances.roundedOnce.float32);
        }
        expect(valuesOf(amax).every((value) => value > 0 && value < 100)).toBe(true);
        disposeAll([x, out, amax]);
      }
    },
  );

  test("RN-10: views at odd offsets, each by itself", async () => {
    const values = randn([4, 4096], { seed: 1, ...bf16 });
    const weight = randomParameter([4096], bf16);
    const place = (offset: number, shape: readonly number[]) => {
      const size = shape.reduce((product, n) => product * n, 1);
      return zeros([size + 8], bf16)
        .narrow(0, offset, size)
        .view(shape);
    };
    const wanted = await bitsOf(rmsnormRhtAmax(values, weight).out);
    for (let offset = 1; offset < 8; offset++) {
      for (const off of [0, 1, 2]) {
        const at = (which: number) => (which === off ? offset : 0);
        const x = place(at(0), [4, 4096]).copyFrom(values);
        const moved = place(at(1), [4096]).copyFrom(weight);
        const out = place(at(2), [4, 4096]);
        rmsnormRhtAmax(x, moved, { out });
        expect(await bitsOf(out)).toBe(wanted);
      }
    }
  });

  test.each(floatDTypes)("RN-11: a last dimension that is not dense, %s", async (dtype) => {
    const x = randn([64, 32], { seed: 1, dtype, device }).transpose(0, 1);
    const weight = ones([64], { dtype, device });
    const { out } = expectRmsnormRhtAmax(x, weight);
    expect(await bitsOf(out)).toBe(await bitsOf(rmsnormRhtAmax(x.contiguous(), weight).out));
  });

  test("RN-13: a weight of another dtype is read as what it is, or refused", async () => {
    const x = randn([8, 1024], { seed: 1, ...bf16 });
    const one = await bitsOf(rmsnormRhtAmax(x, ones([1024], fp32)).out);
    expect(one).toBe(await bitsOf(rmsnormRhtAmax(x, ones([1024], bf16)).out));
    expect(() => rmsnormRhtAmax(x.to("float32"), ones([1024], bf16))).toThrow(TypeError);
    expect(() => rmsnormRhtAmax(x, ones([1024], fp16))).toThrow(TypeError);
  });

  test("RN-15: squares beyond float16", () => {
    const largest = full([2, 4096], 65_504, fp16);
    const out = valuesOf(rmsnormRhtAmax(largest, ones([4096], fp16)).out);
    expect([...new Set(out)]).toEqual([4, 0]);
    const values = valuesOf(randn([4, 512], { seed: 1 })).map((value) => 1000 * value);
    const x = tensor(values, { shape: [4, 512], ...fp16 });
    expectRmsnormRhtAmax(x, ones([512], fp16));
  });

  test.each([
    ["float32", 1e25],
    ["float32", 3.4e38],
    ["float32", 1e-25],
    ["bfloat16", 1e20],
    ["bfloat16", 3.38e38],
    ["bfloat16", 1e-25],
  ] as const)("RN-17: squares beyond float32, above and below: %s %d", (dtype, magnitude) => {
    const eps = magnitude < 1 ? 0 : 1e-6;
    for (const hiddenSize of [16, 64, 4112, 40_000, 300_000]) {
      const values = new Float32Array(hiddenSize).fill(magnitude);
      const x = tensor(values, { shape: [1, hiddenSize], dtype, device });
      const { out, amax } = rmsnormRhtAmax(x, ones([hiddenSize], { dtype, device }), { eps });
      const wanted = Float64Array.from(values, (_, i) => (i % 16 === 0 ? 4 : 0));
      // On the CPU 1024 squares are summed in float32, one by one where nothing is vectorised.
      expectClose(out, wanted, { rtol: 1.2e-5 });
      expectClose(amax, [4], { rtol: 1.2e-5 });
    }
  });

  test("a sum of four million equal squares keeps its precision", () => {
    const size = 2 ** 22;
    const x = full([1, size], Math.fround(1.1), fp32);
    const { amax } = rmsnormRhtAmax(x, ones([size], fp32), { eps: 0 });
    expectClose(amax, [4], { rtol: 1.2e-5 }); // as above
  });

  test("RN-18: one large element does not inflate eps", () => {
    const values = new Float32Array(4096).fill(0.01);
    values[0] = 1000;
    const x = tensor(values, { shape: [1, 4096], ...fp32 });
    const { out } = rmsnormRhtAmax(x, ones([4096], fp32));
    // The block of 1000 and fifteen 0.01: (1000 + 0.15) / 15.625 / 4.
    expect(valuesOf(out)[0]).toBeCloseTo(16.0024, 3);
  });

  test("RN-19: a row's errors have no common sign", () => {
    const values = valuesOf(randn([32, 4096], { seed: 1 })).map((value) => 0.73 * value);
    const x = tensor(values, { shape: [32, 4096], ...bf16 });
    const weight = ones([4096], bf16);
    const out = valuesOf(rmsnormRhtAmax(x, weight).out);
    const wanted = rmsnormRhtAmaxReference(valuesOf(x), valuesOf(weight)).out;
    for (let row = 0; row < 32; row++) {
      // The factor that fits the row best: its values may be near 0, its norm is not.
      let [bias, squares] = [0, 0];
      for (let i = row * 4096; i < (row + 1) * 4096; i++) {
        bias += (out[i]! - wanted[i]!) * wanted[i]!;
        squares += wanted[i]! ** 2;
      }
      expect(Math.abs(bias / squares)).toBeLessThan(2 ** -10);
    }
  });

  test.each([
    [[3, 0, 2528], 0],
    [[0, 4096], 0],
    [[0], 1],
    [[4, 0], 2],
  ] as const)("RN-20: an empty input of shape %j, and the next call works", (shape, groups) => {
    const x = zeros(shape, bf16);
    const { out, amax } = rmsnormRhtAmax(x, ones([shape.at(-1)!], bf16));
    expect([out.shape, amax.shape]).toEqual([shape, [groups]]);
    expect(valuesOf(amax).every((value) => value === 0)).toBe(true);
    expectRmsnormRhtAmax(ones([1, 16], bf16), ones([16], bf16));
  });

  const rowCounts = isEmulated ? [65_537] : [65_535, 65_536, 65_537, 70_000, 2 ** 20 + 8];
  test.each(rowCounts)("RN-21: %i rows of 128", async (rows) => {
    const x = zeros([rows, 1, 128], bf16);
    const last = randn([1, 1, 128], { seed: 1, ...bf16 });
    x.narrow(0, rows - 1, 1).copyFrom(last);
    const weight = ones([128], bf16);
    const out = poisoned(x.shape, bf16);
    const { amax } = rmsnormRhtAmax(x, weight, { out, rowsPerCta: 1 });
    const alone = rmsnormRhtAmax(last, weight);
    expect(await bitsOf(out.narrow(0, rows - 1, 1))).toBe(await bitsOf(alone.out));
    expect(await bitsOf(amax.narrow(0, rows - 1, 1))).toBe(await bitsOf(alone.amax));
    const zero = (bytes: Uint8Array) => Buffer.alloc(bytes.length).equals(bytes);
    expect(zero((await out.bytes()).subarray(0, (rows - 1) * 256))).toBe(true);
    expect(zero((await amax.bytes()).subarray(0, (rows - 1) * 4))).toBe(true);
  });

  test("RN-25: a weight at the end of its allocation, and rows no block count divides", () => {
    const weight = zeros([1552], bf16)
      .narrow(0, 16, 1536)
      .copyFrom(randomParameter([1536], bf16));
    expectRmsnormRhtAmax(randn([isEmulated ? 13 : 757, 1536], { seed: 1, ...bf16 }), weight);
  });

  test("RN-26: eps is inside the root, once", () => {
    const { amax } = rmsnormRhtAmax(full([1, 512], 1e-3, fp32), ones([512], fp32));
    expect(valuesOf(amax)[0]).toBeCloseTo(4 * 0.301511, 5);
  });

  test("LN-11: a row's bits do not depend on how many follow", async () => {
    const x = randn([24, 129, 768], { seed: 1, ...bf16 });
    const weight = randomParameter([768], bf16);
    const all = rmsnormRhtAmax(x, weight).out;
    const most = rmsnormRhtAmax(x.narrow(0, 0, 23), weight).out;
    expect(await bitsOf(most)).toBe(await bitsOf(all.narrow(0, 0, 23)));
  });

  test("C-1: y is not rounded before the transform, nor amax after it", () => {
    const x = tensor([[1, 2, 3, 4, ...new Array(12).fill(0)]], bf16);
    const weight = full([16], 1.296875, bf16);
    const { out, amax } = rmsnormRhtAmax(x, weight, { eps: 0 });
    const wanted = (10 * 1.296875) / Math.sqrt(30 / 16) / 4;
    expect(valuesOf(amax)[0]).toBeCloseTo(wanted, 6);
    expect(valuesOf(out)[0]).toBe(2.375);
  });
});
