// Faults that users reported of other row-wise kernels; the number after RN- is ours.
import { ones, randn, tensor, zeros } from "@warpwright/runtime";
import {
  bitsOf,
  floatDTypes,
  poisoned,
  testDevices,
  valuesOf,
  withCanaries,
} from "@warpwright/testing";
import { randomParameter } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { addLayernorm, layernorm } from "../src/index.js";
import { expectAddLayernorm, expectLayernorm, randomAffine } from "./support.js";

describe.each(testDevices())("other kernels' faults on %s", (device) => {
  const bf16 = { dtype: "bfloat16", device } as const;
  const fp16 = { dtype: "float16", device } as const;
  const fp32 = { dtype: "float32", device } as const;

  const stats = (rows: number) => ({
    mean: zeros([rows], { device }),
    rstd: zeros([rows], { device }),
  });

  test.each([1, 2, 3, 5, 7, 9, 127, 129, 511, 513, 769, 770])(
    "RN-07: the tail of a row stays in its row, 50 times alike: hidden size %i",
    async (hiddenSize) => {
      const x = randn([7, hiddenSize], { seed: 0, ...fp16 });
      const affine = randomAffine(hiddenSize, fp16);
      expectLayernorm(x, affine);
      for (const rowGuard of [0, 1, 8]) {
        const guarded = withCanaries(x.shape, { rowGuard, ...fp16 });
        const out = { out: guarded.tensor };
        // Where rows of out lie decides which vectors a thread sums up.
        const first = await bitsOf(layernorm(x, affine.weight, affine.bias, out));
        for (let run = 1; run < (isEmulated ? 2 : 50); run++) {
          layernorm(x, affine.weight, affine.bias, out);
          expect(await bitsOf(guarded.tensor)).toBe(first);
        }
        await guarded.check();
      }
    },
  );

  test.each([2048, 3072, 4096, 5120, 6144, 7168, 8192])(
    "RN-08: every number of tokens at hidden size %i",
    async (hiddenSize) => {
      const affine = randomAffine(hiddenSize, bf16);
      for (const tokens of isEmulated ? [1, 17] : [1, 257, 512, 4096]) {
        const x = randn([tokens, hiddenSize], { seed: tokens, ...bf16 });
        const out = layernorm(x, affine.weight, affine.bias, { out: poisoned(x.shape, bf16) });
        for (const row of [0, tokens >> 1, tokens - 1]) {
          const alone = expectLayernorm(x.narrow(0, row, 1), affine);
          expect(await bitsOf(out.narrow(0, row, 1))).toBe(await bitsOf(alone));
        }
        for (const t of [x, out]) t.dispose();
      }
    },
  );

  test.each(floatDTypes)("RN-11: a last dimension that is not dense, %s", async (dtype) => {
    const x = randn([64, 32], { seed: 1, dtype, device }).transpose(0, 1);
    expect(await bitsOf(expectLayernorm(x))).toBe(await bitsOf(layernorm(x.contiguous())));
  });

  test("RN-13: parameters of another dtype are read as what they are, or refused", async () => {
    const x = randn([8, 1024], { seed: 1, ...bf16 });
    const plain = await bitsOf(layernorm(x));
    expect(await bitsOf(layernorm(x, ones([1024], fp32), zeros([1024], bf16)))).toBe(plain);
    expect(await bitsOf(layernorm(x, ones([1024], bf16), zeros([1024], fp32)))).toBe(plain);
    const wide = x.to("float32");
    expect(() => layernorm(wide, ones([1024], bf16))).toThrow(TypeError);
    expect(() => layernorm(wide, null, ones([1024], bf16))).toThrow(TypeError);
  });

  test.each([2048, 4096])("RN-16: the fused sum does not overflow, %i", (hiddenSize) => {
    const signs = Array.from({ length: hiddenSize }, (_, i) => (i % 2 ? -300 : 300));
    const x = tensor([signs], fp16);
    const { out } = expectAddLayernorm(x, x, { weight: randomParameter([hiddenSize], fp16) });
    expect(valuesOf(out).every(Number.isFinite)).toBe(true);
  });

  test("RN-18: one large element does not inflate eps", () => {
    const values = new Float32Array(2 * 4096).fill(0.01, 0, 4096);
    values[0] = 1000;
    expectLayernorm(tensor(values, { shape: [2, 4096], device }), {}, stats(2));
  });

  test.each([[[3, 0, 2520]], [[0, 64]], [[4, 0, 64]], [[0]], [[2, 0]]])(
    "RN-20, LN-13: an empty input of shape %j gives empty tensors, and the next call works",
    (shape) => {
      const x = zeros(shape, bf16);
      const { weight, bias } = randomAffine(shape.at(-1)!, bf16);
      expect(layernorm(x).shape).toEqual(shape);
      expect(addLayernorm(x, x, weight, bias).residual.shape).toEqual(shape);
      const [mean, rstd] = [1, 2].map(() => zeros(shape.slice(0, -1), { device }));
      layernorm(x, null, null, { mean, rstd });
      for (const given of [mean!, rstd!]) expect(valuesOf(given).every(Number.isNaN)).toBe(true);
      expectLayernorm(ones([1, 8], bf16));
    },
  );

  const manyRows = isEmulated ? [65_537] : [65_535, 65_536, 65_537, 70_000, 2 ** 20];
  test.each(manyRows)("RN-21, LN-09: %i rows of 64", async (rows) => {
    const x = zeros([rows, 1, 64], fp32);
    const last = randn([1, 1, 64], { seed: 1, ...fp32 });
    x.narrow(0, rows - 1, 1).copyFrom(last);
    const out = layernorm(x, null, null, { out: poisoned(x.shape, fp32) });
    expect(await bitsOf(out.narrow(0, rows - 1, 1))).toBe(await bitsOf(layernorm(last)));
    const bytes = await out.narrow(0, 0, rows - 1).bytes();
    expect(Buffer.alloc(bytes.length).equals(bytes)).toBe(true);
  });

  test("RN-25: parameters at the end of their allocation, and rows no block count divides", () => {
    const { weight, bias } = randomAffine(1536, bf16);
    const [lastWeight, lastBias] = [weight, bias].map((t) =>
      zeros([1537], bf16).narrow(0, 1, 1536).copyFrom(t),
    );
    const x = randn([isEmulated ? 13 : 757, 1536], { seed: 1, ...bf16 });
    expectLayernorm(x, { weight: lastWeight!, bias: lastBias! });
  });

  test("RN-26: eps is inside the root, once", async () => {
    const values = Array.from({ length: 512 }, (_, i) => (i % 2 ? -1e-3 : 1e-3));
    const out = await layernorm(tensor([values], fp32), null, null, { eps: 1e-5 }).data();
    expect(out[0]).toBeCloseTo(0.301511, 6);
  });

  test("C-2: the statistics are those of the rounded sum, which is the residual", async () => {
    const residual = tensor([[2 ** -9, 3 * 2 ** -9]], bf16);
    const result = addLayernorm(ones([1, 2], bf16), residual);
    expect(await result.residual.data()).toEqual(Float32Array.of(1, 1.0078125));
    expect(await bitsOf(result.out)).toBe(await bitsOf(layernorm(result.residual)));
  });
});
