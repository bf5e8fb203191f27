import { type Device, randn, type Tensor } from "@warpwright/runtime";
import { expectClose, type FloatDType, ulpOf, valuesOf } from "@warpwright/testing";
import { expect } from "vitest";
import { type AttentionOptions, attention, attentionWithLse, type Layout } from "../src/index.js";
import {
  attentionReference,
  naiveAttention,
  type Reference,
  type ReferenceOptions,
  type Values,
} from "./reference.js";

export const dtypes: readonly FloatDType[] = ["float32", "float16", "bfloat16"];
export const halves = ["float16", "bfloat16"] as const;

export interface Place {
  dtype: FloatDType;
  device: Device;
}

/** Sizes of one call; what is left out is 1, kv heads as many as heads, dv as d, sk as sq. */
export interface Sizes {
  b?: number;
  h?: number;
  hk?: number;
  sq: number;
  sk?: number;
  d: number;
  dv?: number;
}

export interface Inputs {
  q: Tensor;
  k: Tensor;
  v: Tensor;
}

/** Normal q, k and v in the layout bshd. */
export function randomInputs(
  { b = 1, h = 1, hk = h, sq, sk = sq, d, dv = d }: Sizes,
  place: Place,
  seed = 1,
): Inputs {
  return {
    q: randn([b, sq, h, d], { seed, ...place }),
    k: randn([b, sk, hk, d], { seed: seed + 1, ...place }),
    v: randn([b, sk, hk, dv], { seed: seed + 2, ...place }),
  };
}

/** The tensor in [batch, heads, seqlen, head_dim], as the reference takes it; a view. */
export function byHead(x: Tensor, layout: Layout = "bshd"): Tensor {
  return layout === "bhsd" ? x : x.transpose(1, 2);
}

export function headValues(x: Tensor, layout: Layout = "bshd"): Values {
  const heads = byHead(x, layout);
  return { data: valuesOf(heads), shape: heads.shape as Values["shape"] };
}

/** What a mask adds to each score. */
function biasOf(mask: Tensor): NonNullable<ReferenceOptions["bias"]> {
  const { shape, dtype } = mask;
  const values: ArrayLike<number> =
    dtype === "bool"
      ? Float64Array.from(mask.contiguous().dataSync() as Uint8Array, (seen) =>
          seen ? 0 : -Infinity,
        )
      : valuesOf(mask);
  return (...index) => {
    let at = 0;
    shape.forEach((size, i) => {
      const here = index[4 - shape.length + i]!;
      at = at * size + (size === 1 ? 0 : here);
    });
    return values[at]!;
  };
}

function referenceOptions(options: AttentionOptions): ReferenceOptions {
  const { causal, softmaxScale, windowLeft, windowRight, softcap, mask, sinks } = options;
  return {
    ...{ causal, softmaxScale, windowLeft, windowRight, softcap },
    bias: mask && biasOf(mask),
    sinks: sinks && valuesOf(sinks),
  };
}

/** Of those that are finite. */
function largestError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(actual[i]! - expected[i]!);
    if (error > largest && Number.isFinite(error)) largest = error;
  }
  return largest;
}

function largestOf(values: ArrayLike<number>): number {
  return largestError(values, new Float64Array(values.length));
}

/**
 * Runs attention and compares with float64: at most twice the error of the formula as separate
 * kernels compute it in q's dtype, beside the rounding of the result that no kernel is spared.
 */
export function expectAttention(
  { q, k, v }: Inputs,
  options: AttentionOptions = {},
): { out: Tensor; lse: Tensor } {
  const { layout } = options;
  const values = [q, k, v].map((x) => headValues(x, layout)) as [Values, Values, Values];
  const given = referenceOptions(options);
  const exact = attentionReference(...values, given);
  const result = attentionWithLse(q, k, v, options);
  const dtype = q.dtype as FloatDType;
  const naive = naiveAttention(...values, dtype, given);
  const rounding = ulpOf(result.out.dtype as FloatDType, largestOf(exact.out)) / 2;
  const arithmetic = 1e-6 * (1 + largestOf(exact.out));
  const atol = 2 * largestError(naive.out, exact.out) + rounding + arithmetic;
  expectClose(byHead(result.out, layout), exact.out, { atol, name: "out" });
  expectLse(result.lse, exact);
  return result;
}

// Scores of d products near 1, each rounded to float32; the logarithm of a sum of such powers.
export function expectLse(lse: Tensor, { lse: wanted }: Pick<Reference, "lse">): void {
  expectClose(lse, wanted, { atol: 1e-5, rtol: 1e-5, name: "lse" });
}

/** The same result by attention alone. */
export async function expectSameOut(inputs: Inputs, options: AttentionOptions, out: Tensor) {
  const { q, k, v } = inputs;
  expect(await bitsOf(attention(q, k, v, options))).toBe(await bitsOf(out));
}

/** The tensor's bits, for comparisons that allow no difference. */
export async function bitsOf(x: Tensor): Promise<string> {
  return Buffer.from(await x.bytes()).toString("base64");
}
