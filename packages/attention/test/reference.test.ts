// Closed forms that the references have to meet.
import { describe, expect, test } from "vitest";
import { attentionReference, naiveAttention, type Values } from "./reference.js";

/** [1, heads, seqlen, 1] of the values, or of zeros. */
function heads(shape: readonly [number, number, number, number], values?: number[]): Values {
  const size = shape.reduce((a, b) => a * b, 1);
  return { shape, data: values ? Float64Array.from(values) : new Float64Array(size) };
}

describe("attention's reference", () => {
  test("scores of 0 give the mean of the visible values, and lse their count's logarithm", () => {
    const [q, k] = [heads([1, 1, 2, 1]), heads([1, 1, 5, 1])];
    const v = heads([1, 1, 5, 1], [0, 1, 2, 3, 4]);
    const all = attentionReference(q, k, v);
    expect([...all.out]).toEqual([2, 2].map((mean) => expect.closeTo(mean, 12)));
    expect([...all.lse]).toEqual([Math.log(5), Math.log(5)]);
    const causal = attentionReference(q, k, v, { causal: true });
    expect([...causal.out]).toEqual([1.5, 2].map((mean) => expect.closeTo(mean, 12)));
    expect([...causal.lse]).toEqual([Math.log(4), Math.log(5)]);
  });

  test("two keys: the logistic function of their scores' difference", () => {
    const q = heads([1, 1, 1, 1], [2]);
    const k = heads([1, 1, 2, 1], [3, 1]);
    const v = heads([1, 1, 2, 1], [1, 0]);
    const { out, lse } = attentionReference(q, k, v, { softmaxScale: 0.25 });
    expect(out[0]).toBeCloseTo(1 / (1 + Math.exp(-1)), 12);
    expect(lse[0]).toBeCloseTo(Math.log(Math.exp(1.5) + Math.exp(0.5)), 12);
  });

  test("rows without keys, sinks, caps, bias and windows", () => {
    const [q, k] = [heads([1, 1, 3, 1]), heads([1, 1, 2, 1])];
    const v = heads([1, 1, 2, 1], [4, 8]);
    const causal = attentionReference(q, k, v, { causal: true });
    expect([...causal.out]).toEqual([0, 4, 6]);
    expect(causal.lse[0]).toBe(-Infinity);
    const sunk = attentionReference(q, k, v, { causal: true, sinks: [0] });
    expect([...sunk.out]).toEqual([0, 2, expect.closeTo(4, 12)]);
    expect([...sunk.lse]).toEqual([0, Math.log(2), Math.log(3)]);
    const bias = (_: number, __: number, ___: number, key: number) => (key === 0 ? -Infinity : 1);
    const hidden = attentionReference(q, k, v, { bias });
    expect([...hidden.out]).toEqual([8, 8, 8]);
    expect([...hidden.lse]).toEqual([1, 1, 1]);
    expect([...attentionReference(q, k, v, { windowLeft: 0, windowRight: 0 }).out]).toEqual([
      0, 4, 8,
    ]);
    const one = heads([1, 1, 1, 1], [100]);
    const capped = attentionReference(one, one, one, { softcap: 3, softmaxScale: 1 });
    expect(capped.lse[0]).toBe(3);
  });

  test("heads share keys in groups", () => {
    const q = heads([1, 4, 1, 1]);
    const k = heads([1, 2, 1, 1]);
    const v = heads([1, 2, 1, 1], [5, 7]);
    expect([...attentionReference(q, k, v).out]).toEqual([5, 5, 7, 7]);
  });

  test("the naive formula rounds where separate kernels store", () => {
    const [q, k] = [heads([1, 1, 1, 1]), heads([1, 1, 3, 1])];
    const v = heads([1, 1, 3, 1], [3, 3, 3]);
    // A third in bfloat16 is 0.333984375; three of them times 3 are 3.005859375, stored as 3.
    const { out, lse } = naiveAttention(q, k, v, "bfloat16");
    expect(out[0]).toBe(3);
    expect(lse[0]).toBe(Math.log(3));
    const wide = heads([1, 1, 3, 1], [48, 48, 48]);
    expect(naiveAttention(q, k, wide, "float16").out[0]).toBe(48);
    const one = heads([1, 1, 1, 1], [1.001]);
    expect(naiveAttention(one, one, one, "bfloat16").out[0]).toBe(1);
  });
});
