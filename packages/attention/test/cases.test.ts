// Faults that users of comparable kernels reported; the number after AT- is ours.
import { full, ones, randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import { expectClose, misaligned, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { attention, attentionWithLse, mergeAttention } from "../src/index.js";
import {
  bitsOf,
  dtypes,
  expectAttention,
  type Inputs,
  type Place,
  randomInputs,
} from "./support.js";

/** Queries of 0, so that all visible keys count the same, and values that name their key. */
function counting(sq: number, sk: number, place: Place): Inputs {
  const [q, k] = [zeros([1, sq, 1, 8], place), randn([1, sk, 1, 8], { seed: 1, ...place })];
  const v = tensor(
    Array.from({ length: sk }, (_, key) => key),
    { shape: [1, sk, 1, 1], ...place },
  );
  return { q, k, v };
}

/** A bool mask of `shape`. */
function seenWhere(shape: number[], device: Place["device"], seen: (i: number) => boolean): Tensor {
  const size = shape.reduce((a, b) => a * b, 1);
  const values = Uint8Array.from({ length: size }, (_, i) => (seen(i) ? 1 : 0));
  return tensor(values, { shape, dtype: "bool", device });
}

describe.each(testDevices())("reported faults on %s", (device) => {
  describe.each(dtypes)("%s", (dtype) => {
    const place = { dtype, device };
    const lowest = { float32: -3.4028234663852886e38, float16: -65504, bfloat16: -3.3895e38 }[
      dtype
    ];

    test("AT-01: causal is aligned to the bottom right", () => {
      const short = counting(2, 5, place);
      expect([...valuesOf(attention(short.q, short.k, short.v, { causal: true }))]).toEqual([
        1.5, 2,
      ]);
      const { q, k, v } = counting(5, 2, place);
      const { out, lse } = attentionWithLse(q, k, v, { causal: true });
      expect([...valuesOf(out)]).toEqual([0, 0, 0, 0, 0.5]);
      expect([...valuesOf(lse)]).toEqual([
        -Infinity,
        -Infinity,
        -Infinity,
        0,
        Math.fround(Math.LN2),
      ]);
    });

    test("AT-02: lengths that differ", () => {
      const step = isEmulated ? 97 : 13;
      for (let sk = 1; sk <= 300; sk += step)
        expectAttention(randomInputs({ sq: 1, sk, d: 16 }, place));
      expectAttention(randomInputs({ sq: 257, sk: 3, d: 16 }, place));
    });

    test("AT-03: rows that the mask hides altogether, and rows at the lowest number", () => {
      const inputs = randomInputs({ sq: 8, d: 16 }, place);
      const mask = seenWhere([8, 8], device, (i) => i < 32);
      const { out, lse } = expectAttention(inputs, { mask });
      expect([...valuesOf(out.narrow(1, 4, 4))].every((x) => x === 0)).toBe(true);
      expect([...valuesOf(lse)].slice(4)).toEqual([1, 2, 3, 4].map(() => -Infinity));
      const low = zeros([8, 8], place);
      low.narrow(0, 2, 1).fill(lowest);
      const flat = { ...inputs, q: zeros(inputs.q.shape, place) };
      expectAttention(flat, { mask: low });
    });

    test.each([64, 128, 512])("AT-04: only the last of many keys, %i of them hidden", (hidden) => {
      const sk = 600;
      const inputs = {
        ...randomInputs({ sq: 3, sk, d: 16 }, place),
        v: ones([1, sk, 1, 16], place),
      };
      const last = seenWhere([sk], device, (key) => key >= hidden);
      const { out } = expectAttention(inputs, { mask: last });
      expectClose(out, new Float64Array(out.size).fill(1), { rtol: 1e-6, ulps: 1 });
      expectAttention(inputs, { mask: seenWhere([sk], device, (key) => key < sk - hidden) });
      expectAttention(inputs, { windowLeft: 9 });
    });

    test.each([9, 12, 503])(
      "AT-05: NaN behind %i keys, and at keys that are hidden",
      async (sk) => {
        const { q, k, v } = randomInputs({ h: 2, sq: 21, sk, d: 24 }, place);
        const clean = await bitsOf(attention(q, k, v));
        const within = (x: Tensor) => {
          const buffer = full([1, sk + 130, 2, 24], Number.NaN, place);
          return buffer.narrow(1, 64, sk).copyFrom(x);
        };
        expect(await bitsOf(attention(q, within(k), within(v)))).toBe(clean);
        for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
          const [badK, badV] = [k.clone(), v.clone()];
          for (const bad of [badK, badV]) bad.narrow(1, sk - 2, 2).fill(value);
          const [seenK, seenV] = [k, v].map((x) => x.narrow(1, 0, sk - 2));
          const wanted = attentionWithLse(q, seenK!, seenV!);
          const mask = seenWhere([sk], device, (key) => key < sk - 2);
          const bias = zeros([sk], place);
          bias.narrow(0, sk - 2, 2).fill(Number.NEGATIVE_INFINITY);
          for (const hide of [mask, bias]) {
            const { out, lse } = attentionWithLse(q, badK, badV, { mask: hide });
            expectClose(out, valuesOf(wanted.out), {
              ofLargest: dtype === "float32" ? 1e-6 : 0.01,
            });
            expectClose(lse, valuesOf(wanted.lse), { rtol: 1e-6, atol: 1e-6 });
          }
          expectAttention({ q, k: badK, v: badV }, { causal: true });
        }
      },
    );

    test("AT-12: a window includes its end and the query's own key", () => {
      const counts = (options: object) => {
        const { q, k } = counting(8, 8, place);
        const lse = valuesOf(attentionWithLse(q, k, ones([1, 8, 1, 1], place), options).lse);
        return [...lse].map((x) => Math.round(Math.exp(x)));
      };
      expect(counts({ windowLeft: 3, windowRight: 0 })).toEqual([1, 2, 3, 4, 4, 4, 4, 4]);
      expect(counts({ windowLeft: 0, windowRight: 0 })).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
      expect(counts({ windowLeft: 7, windowRight: 0 })).toEqual(counts({ causal: true }));
      expect(counts({ causal: true, windowRight: 5 })).toEqual(counts({ causal: true }));
    });

    test("AT-14: the cap comes before the mask", () => {
      const { q, k } = counting(1, 3, place);
      const v = tensor([1, 0, 0], { shape: [1, 3, 1, 1], ...place });
      const mask = tensor([0, 0, Number.NEGATIVE_INFINITY], { device });
      expect([...valuesOf(attention(q, k, v, { mask, softcap: 1 }))]).toEqual([0.5]);
    });

    test("AT-18: each input's own strides", async () => {
      const { q, k, v } = randomInputs({ b: 2, h: 3, sq: 9, sk: 70, d: 32 }, place);
      const plain = await bitsOf(attention(q, k, v, { causal: true }));
      const bhsd = (x: Tensor) => x.transpose(1, 2).contiguous().transpose(1, 2);
      const columns = (x: Tensor) => x.permute([3, 0, 1, 2]).contiguous().permute([1, 2, 3, 0]);
      for (const layout of [bhsd, columns, (x: Tensor) => misaligned(x, 3)]) {
        expect(await bitsOf(attention(layout(q), k, v, { causal: true }))).toBe(plain);
        expect(await bitsOf(attention(q, layout(k), v, { causal: true }))).toBe(plain);
        expect(await bitsOf(attention(q, k, layout(v), { causal: true }))).toBe(plain);
      }
      const fused = randn([2, 9, 3, 3, 32], { seed: 4, ...place });
      const [a, b, c] = [0, 1, 2].map((part) => fused.select(2, part));
      const dense = attention(a!.contiguous(), b!.contiguous(), c!.contiguous());
      expect(await bitsOf(attention(a!, b!, c!))).toBe(await bitsOf(dense));
    });

    test("AT-21: head h reads head floor(h / group)", () => {
      const named = (h: number, hk: number) => {
        const { q, k } = randomInputs({ h, hk, sq: 1, sk: 3, d: 8 }, place);
        const v = zeros([1, 3, hk, 1], place);
        for (let head = 0; head < hk; head++) v.narrow(2, head, 1).fill(head);
        return [...valuesOf(attention(q, k, v))].map(Math.round);
      };
      expect(named(4, 2)).toEqual([0, 0, 1, 1]);
      expect(named(28, 4)).toEqual(Array.from({ length: 28 }, (_, h) => Math.floor(h / 7)));
      expect(() => named(3, 2)).toThrow("expected the heads of q to be a multiple");
    });

    test("AT-25: masks with odd rows, expanded, sliced", async () => {
      const inputs = randomInputs({ h: 3, sq: 43, d: 16 }, place);
      const bias = randn([1, 1, 43, 43], { seed: 6, ...place });
      const plain = await bitsOf(expectAttention(inputs, { mask: bias }).out);
      const wide = zeros([43, 50], place)
        .narrow(1, 5, 43)
        .copyFrom(bias.view([43, 43]));
      const turned = bias.view([43, 43]).transpose(0, 1).contiguous().transpose(0, 1);
      for (const mask of [bias.expand([1, 3, 43, 43]), wide, turned, misaligned(bias, 1)]) {
        expect(await bitsOf(expectAttention(inputs, { mask }).out)).toBe(plain);
      }
      const seen = seenWhere([1, 1, 43, 43], device, (i) => i % 3 > 0);
      expectAttention(inputs, { mask: seen });
      expectAttention(inputs, {
        mask: seenWhere([43, 1], device, (i) => i % 2 > 0).expand([43, 43]),
      });
    });

    test("AT-29: leading keys at the lowest number", () => {
      const inputs = randomInputs({ h: 2, sq: 5, sk: 441, d: 64 }, place);
      const mask = zeros([441], place);
      mask.narrow(0, 0, 128).fill(lowest);
      const { out } = expectAttention(inputs, { mask });
      const [k, v] = [inputs.k, inputs.v].map((x) => x.narrow(1, 128, 313));
      const rest = attention(inputs.q, k!, v!);
      expectClose(out, valuesOf(rest), { ofLargest: dtype === "float32" ? 1e-6 : 0.01 });
    });

    // Of which float32 no longer tells those apart that differ by 1.
    test.each([6000, 10_000, 30_000])("scores of 8 * %i^2", (largest) => {
      const q = full([1, 3, 1, 64], largest, place);
      const [k, v] = [zeros([1, 5, 1, 64], place), zeros([1, 5, 1, 8], place)];
      k.narrow(1, 2, 1).fill(largest);
      v.narrow(1, 2, 1).fill(3);
      const { out, lse } = attentionWithLse(q, k, v);
      expect(new Set(valuesOf(out))).toEqual(new Set([3]));
      const rounded = valuesOf(q)[0]!;
      for (const value of valuesOf(lse)) expect(value / (8 * rounded ** 2)).toBeCloseTo(1, 5);
    });

    test.each(isEmulated ? [7, 127] : [1, 7, 33, 127, 1000, 1025])("AT-31: %i positions", (sq) => {
      expectAttention(randomInputs({ sq, d: 16 }, place), { causal: true });
    });
  });

  test("AT-16: merging with parts that have no keys", async () => {
    const out = randn([1, 3, 2, 8], { seed: 1, device });
    const lse = randn([1, 2, 3], { seed: 2, device });
    const [none, noLse] = [zeros(out.shape, { device }), full(lse.shape, -Infinity, { device })];
    const empty = mergeAttention(none, noLse, none, noLse);
    expect(new Set(valuesOf(empty.out))).toEqual(new Set([0]));
    expect(new Set(valuesOf(empty.lse))).toEqual(new Set([-Infinity]));
    for (const merged of [
      mergeAttention(out, lse, none, noLse),
      mergeAttention(none, noLse, out, lse),
    ]) {
      expect(await bitsOf(merged.out)).toBe(await bitsOf(out));
      expect(await bitsOf(merged.lse)).toBe(await bitsOf(lse));
    }
  });
});
