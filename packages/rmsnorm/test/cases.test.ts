// Faults that users of comparable kernels reported; the number after RN- is ours.
import { full, ones, randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
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
import { addRmsnorm, rmsnorm } from "../src/index.js";
import { rmsnormReference } from "./reference.js";
import { countNonFinite, expectAddRmsnorm, expectRmsnorm } from "./support.js";

describe.each(testDevices())("reported faults on %s", (device) => {
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
          const residual = randn(x.shape, { seed: 2, ...place });
          expectAddRmsnorm(x, residual, randomParameter([hiddenSize], place));
        }
      }
    },
  );

  test.each([12288, 12289, 16384, 32768, 65536])(
    "RN-06: rows that outgrow default shared memory: float32 x %i",
    (hiddenSize) => {
      const x = randn([3, hiddenSize], { seed: 1, ...fp32 });
      expectRmsnorm(x, randomParameter([hiddenSize], fp32));
      expectRmsnorm(randn([1, 64], { seed: 1, ...fp32 }), null); // no error is left pending
    },
  );

  test.each([1, 2, 3, 5, 7, 9, 127, 129, 511, 513, 769, 770])(
    "RN-07: the tail of a row stays in its row, 50 times alike: hidden size %i",
    async (hiddenSize) => {
      const x = randn([7, hiddenSize], { seed: 0, ...fp16 });
      const wanted = rmsnormReference(valuesOf(x), null, hiddenSize, "float16");
      for (const rowGuard of [0, 1, 8]) {
        const guarded = withCanaries(x.shape, { rowGuard, ...fp16 });
        rmsnorm(x, null, { out: guarded.tensor });
        const first = await bitsOf(guarded.tensor);
        expectClose(guarded.tensor, wanted.out, tolerances.roundedOnce.float16);
        for (let run = 1; run < (isEmulated ? 2 : 50); run++) {
          rmsnorm(x, null, { out: guarded.tensor });
          expect(await bitsOf(guarded.tensor)).toBe(first);
        }
        await guarded.check();
      }
    },
  );

  test.each([2048, 3072, 4096, 5120, 6144, 7168, 8192])(
    "RN-08: every number of tokens at hidden size %i",
    async (hiddenSize) => {
      const weight = randomParameter([hiddenSize], bf16);
      for (const tokens of isEmulated ? [1, 17] : [1, 256, 257, 512, 4096]) {
        const x = randn([tokens, hiddenSize], { seed: tokens, ...bf16 });
        const out = rmsnorm(x, weight, { out: poisoned(x.shape, bf16) });
        for (const row of [0, tokens >> 1, tokens - 1]) {
          const one = x.narrow(0, row, 1);
          const wanted = rmsnormReference(valuesOf(one), valuesOf(weight), hiddenSize, "bfloat16");
          expectClose(out.narrow(0, row, 1), wanted.out, tolerances.roundedOnce.bfloat16);
        }
        expect(await countNonFinite(out)).toBe(0);
        for (const t of [x, out]) t.dispose();
      }
    },
  );

  test.each([4096, 4095])("RN-10: contiguous views at odd offsets, %i columns", async (columns) => {
    const rows = 3;
    const place = (values: Tensor, offset: number) => {
      const buffer = zeros([values.size + 8], bf16);
      return buffer.narrow(0, offset, values.size).view(values.shape).copyFrom(values);
    };
    const x = randn([rows, columns], { seed: 1, ...bf16 });
    const residual = randn([rows, columns], { seed: 2, ...bf16 });
    const weight = randomParameter([columns], bf16);
    const plain = addRmsnorm(x, residual, weight).out;
    const aligned = await bitsOf(plain);
    for (const offset of [1, 2, 3, 4, 5, 6, 7]) {
      for (const off of [0, 1, 2, 3]) {
        const at = (which: number) => (which === off ? offset : 0);
        const { out } = addRmsnorm(place(x, at(0)), place(residual, at(1)), place(weight, at(2)), {
          out: place(x, at(3)),
        });
        // Where out is elsewhere, a GPU cuts its rows elsewhere and sums them in another order.
        if (off === 3) expectClose(out, valuesOf(plain), tolerances.reduction.bfloat16);
        else expect(await bitsOf(out)).toBe(aligned);
      }
    }
  });

  test.each(floatDTypes)("RN-11: a last dimension that is not dense, %s", async (dtype) => {
    const x = randn([64, 32], { seed: 1, dtype, device }).transpose(0, 1);
    expect(x.strides).toEqual([1, 32]);
    expect(await bitsOf(expectRmsnorm(x, null))).toBe(await bitsOf(rmsnorm(x.contiguous())));
  });

  test("RN-13: a weight of another dtype is read as what it is, or refused", async () => {
    const x = randn([8, 1024], { seed: 1, ...bf16 });
    const one = await bitsOf(rmsnorm(x, ones([1024], fp32)));
    expect(one).toBe(await bitsOf(rmsnorm(x)));
    expectRmsnorm(randn([8, 1024], { seed: 1, ...fp16 }), randomParameter([1024], fp32));
    expect(() => rmsnorm(x.to("float32"), ones([1024], bf16))).toThrow(TypeError);
  });

  test("RN-14: 1 + w is formed in float32", async () => {
    // 15.8125 + 1 is 16.8125, which bfloat16 would round to 16.75: 7.53125 against 7.5.
    const x = tensor([[1, 3]], bf16);
    const weight = full([2], 15.8125, bf16);
    const out = rmsnorm(x, weight, { weightOffset: 1 });
    expect((await out.data())[0]).toBe(7.53125);
    const none = rmsnorm(x, full([2], -1, bf16), { weightOffset: 1 });
    expect(await none.data()).toEqual(new Float32Array(2));
  });

  test("RN-15: squares beyond float16", async () => {
    const alternating = tensor(
      [Array.from({ length: 2048 }, (_, i) => (i % 2 ? -300 : 300))],
      fp16,
    );
    expect(new Set(valuesOf(rmsnorm(alternating)))).toEqual(new Set([1, -1]));
    const weight = randomParameter([4096], fp16);
    const largest = rmsnorm(full([2, 4096], 65504, fp16), weight);
    expectClose(largest.select(0, 1), valuesOf(weight), { ulps: 1 });
    const x = tensor(
      (randn([4, 512], { seed: 1 }).dataSync() as Float32Array).map((v) => 1000 * v),
      { shape: [4, 512], ...fp16 },
    );
    expectRmsnorm(x, null);
  });

  test.each([2048, 4096])("RN-16: the fused sum does not overflow either, %i", (hiddenSize) => {
    const of = (value: number) => full([2, hiddenSize], value, fp16);
    const weight = randomParameter([hiddenSize], fp16);
    for (const [x, residual, sum] of [
      [300, 0, 300],
      [200, 200, 400],
    ] as const) {
      const result = addRmsnorm(of(x), of(residual), weight);
      expectClose(result.out.select(0, 1), valuesOf(weight), { ulps: 1 });
      expectClose(result.residual, new Float64Array(2 * hiddenSize).fill(sum), { ulps: 0 });
    }
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
    for (const hiddenSize of [2, 64, 4097, 40_000, 300_000]) {
      const signs = Float32Array.from({ length: hiddenSize }, (_, i) => (i % 2 ? -1 : 1));
      const values = signs.map((sign) => sign * magnitude);
      const x = tensor(values, { shape: [1, hiddenSize], dtype, device });
      const rstd = zeros([1], { device });
      const out = rmsnorm(x, null, { rstd, eps });
      expectClose(out, signs, { rtol: 6e-6 });
      const scale = Math.abs(valuesOf(x)[0]!);
      expectClose(rstd, [1 / scale], { rtol: 1e-5, atol: 2 ** -149 });
      const sum = addRmsnorm(x, zeros(x.shape, { dtype, device }), null, { eps });
      expectClose(sum.out, signs, { rtol: 6e-6 });
    }
  });

  test("RN-17: without eps a row of zeros is 0 / 0, and its neighbours are what they are", () => {
    for (const dtype of floatDTypes) {
      const x = zeros([3, 96], { dtype, device });
      x.narrow(0, 1, 1).fill(2);
      const rstd = zeros([3], { device });
      const out = valuesOf(rmsnorm(x, null, { eps: 0, rstd }));
      expect([...out].map((y) => Number.isNaN(y))).toEqual([...x.dataSync()].map((v) => v === 0));
      expect([...out.subarray(96, 192)].every((y) => y === 1)).toBe(true);
      expect(valuesOf(rstd)).toEqual(Float64Array.of(Infinity, 0.5, Infinity));
    }
  });

  test("a sum of four million equal squares keeps its precision", () => {
    const size = isEmulated ? 2 ** 19 : 2 ** 22;
    const value = Math.fround(1.1);
    const rstd = zeros([1], { device });
    const out = rmsnorm(full([1, size], value, fp32), null, { rstd, eps: 0 });
    expectClose(out, new Float64Array(size).fill(1), { rtol: 6e-6 });
    expectClose(rstd, [1 / value], { rtol: 6e-6 });
  });

  test("RN-18: one large element does not inflate eps, and a row of zeros stays zero", async () => {
    const values = new Float32Array(2 * 4096).fill(0.01, 0, 4096);
    values[0] = 1000;
    const out = await rmsnorm(tensor(values, { shape: [2, 4096], device }), null, {
      eps: 1e-5,
    }).data();
    expect(out[0]).toBeCloseTo(64, 3);
    expect(out.subarray(4096)).toEqual(new Float32Array(4096));
  });

  test("RN-19: rstd is float32, and a row's errors have no common sign", () => {
    // Away from rms 1, where rounding x * rstd back to x would be such a sign by itself.
    const values = valuesOf(randn([32, 4096], { seed: 1 })).map((value) => 0.73 * value);
    const x = tensor(values, { shape: [32, 4096], ...bf16 });
    const rstd = zeros([32], { device });
    const out = valuesOf(expectRmsnorm(x, null, { rstd }));
    const wanted = rmsnormReference(valuesOf(x), null, 4096, "bfloat16").out;
    for (let row = 0; row < 32; row++) {
      let bias = 0;
      for (let i = row * 4096; i < (row + 1) * 4096; i++) bias += out[i]! / wanted[i]! - 1;
      expect(Math.abs(bias / 4096)).toBeLessThan(2 ** -10);
    }
  });

  test.each([[[3, 0, 2520]], [[0, 4096]], [[0]], [[2, 0]]])(
    "RN-20: an empty input of shape %j gives an empty tensor, and the next call works",
    (shape) => {
      const x = zeros(shape, bf16);
      expect(rmsnorm(x).shape).toEqual(shape);
      expect(addRmsnorm(x, x, ones([shape.at(-1)!], bf16)).residual.shape).toEqual(shape);
      const rstd = zeros(shape.slice(0, -1), { device });
      rmsnorm(x, null, { rstd });
      expect(valuesOf(rstd).every(Number.isNaN)).toBe(true);
      expectRmsnorm(ones([1, 8], bf16), null);
    },
  );

  const rowCounts = isEmulated ? [65_537] : [65_535, 65_536, 65_537, 70_000, 2 ** 20];
  test.each(rowCounts)("RN-21: %i rows of 128", async (rows) => {
    const x = zeros([rows, 1, 128], bf16);
    const last = randn([1, 1, 128], { seed: 1, ...bf16 });
    x.narrow(0, rows - 1, 1).copyFrom(last);
    const out = rmsnorm(x, null, { out: poisoned(x.shape, bf16) });
    expect(await bitsOf(out.narrow(0, rows - 1, 1))).toBe(await bitsOf(rmsnorm(last)));
    const bytes = (await out.bytes()).subarray(0, (rows - 1) * 256);
    expect(Buffer.alloc(bytes.length).equals(bytes)).toBe(true);
  });

  test("RN-25: a weight at the end of its allocation, and rows no block count divides", () => {
    const weight = zeros([1537], bf16)
      .narrow(0, 1, 1536)
      .copyFrom(randomParameter([1536], bf16));
    expectRmsnorm(randn([isEmulated ? 13 : 757, 1536], { seed: 1, ...bf16 }), weight);
  });

  test("RN-26: eps is inside the root, once", async () => {
    const out = await rmsnorm(full([1, 512], 1e-3, fp32), null, { eps: 1e-5 }).data();
    expect(out[0]).toBeCloseTo(0.301511, 6);
    expect(await rmsnorm(zeros([1, 512], fp32)).data()).toEqual(new Float32Array(512));
  });

  test("C-1: where the rounding is, to the bit", async () => {
    const x = tensor([[1, 2, 3, 4]], bf16);
    const weight = tensor([1.296875, 0.69921875, 1.8984375, 0.8984375], bf16);
    expect((await rmsnorm(x, weight).data())[0]).toBe(0.47265625);
    expect((await rmsnorm(x, weight, { casting: "llama" }).data())[0]).toBe(0.474609375);
  });

  test("C-2: the variance is that of the rounded sum, which is the residual", async () => {
    const residual = tensor([[2 ** -9, 3 * 2 ** -9]], bf16);
    const result = addRmsnorm(ones([1, 2], bf16), residual);
    expect(await result.residual.data()).toEqual(Float32Array.of(1, 1.0078125));
    expect(await bitsOf(result.out)).toBe(await bitsOf(rmsnorm(result.residual)));
  });

  test("C-3: eps is 1e-6 by default, in every dtype", async () => {
    for (const dtype of floatDTypes) {
      const x = randn([4, 32], { seed: 1, dtype, device });
      expect(await bitsOf(rmsnorm(x))).toBe(await bitsOf(rmsnorm(x, null, { eps: 1e-6 })));
    }
  });
});
