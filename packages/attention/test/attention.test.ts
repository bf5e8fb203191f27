import { ones, randn, tensor, zeros } from "@warpwright/runtime";
import { expectClose, poisoned, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { type AttentionOptions, attention, attentionWithLse } from "../src/index.js";
import { bitsOf, dtypes, expectAttention, expectSameOut, randomInputs } from "./support.js";

// Around the edges of tiles of 32 and 64 keys and of blocks of 48, 64 and 128 queries; none; some
// primes.
const queryCounts = isEmulated ? [0, 1, 131] : [0, 1, 17, 47, 49, 63, 64, 65, 127, 128, 129, 193];
const keyCounts = isEmulated ? [0, 1, 63, 129] : [0, 1, 31, 33, 63, 64, 65, 127, 128, 129, 251];

const optionSets: readonly (readonly [string, AttentionOptions])[] = [
  ["no options", {}],
  ["causal", { causal: true }],
  ["a window to the left", { windowLeft: 20 }],
  ["a window to the right", { windowRight: 3 }],
  ["a window to both sides", { windowLeft: 70, windowRight: 40 }],
  ["softcap, causal", { softcap: 2, causal: true }],
];

// Below, at and above each of the kernel's tile sizes; a single column; no multiple of 8.
const headDims: readonly (readonly [d: number, dv: number])[] = [
  ...[1, 8, 15, 40, 46, 63, 64, 72, 80, 96, 100, 112, 120, 128, 160, 192, 200, 256].map(
    (d) => [d, d] as const,
  ),
  ...([
    [192, 128],
    [128, 192],
    [64, 128],
    [96, 64],
    [1, 256],
    [256, 1],
  ] as const),
];

describe.each(testDevices())("attention on %s", (device) => {
  describe.each(dtypes)("%s", (dtype) => {
    const place = { dtype, device };

    test.each(optionSets)("lengths around the edges of tiles: %s", async (_, options) => {
      for (const sq of queryCounts) {
        for (const sk of keyCounts) {
          const inputs = randomInputs({ sq, sk, d: 24 }, place, sq + sk);
          const { out } = expectAttention(inputs, options);
          await expectSameOut(inputs, options, out);
        }
      }
    });

    test.each(headDims)("AT-24: head dims %i and %i", (d, dv) => {
      const inputs = randomInputs({ h: 2, hk: 1, sq: 5, sk: 70, d, dv }, place);
      expectAttention(inputs);
      expectAttention(inputs, { causal: true, softcap: 3 });
    });

    test("heads in groups, several batches, both layouts", async () => {
      for (const [h, hk] of [
        [4, 4],
        [6, 2],
        [5, 1],
      ] as const) {
        const inputs = randomInputs({ b: 3, h, hk, sq: 9, sk: 40, d: 32 }, place);
        const { out, lse } = expectAttention(inputs, { causal: true });
        const [q, k, v] = [inputs.q, inputs.k, inputs.v].map((x) => x.transpose(1, 2));
        const swapped = attentionWithLse(q!, k!, v!, { causal: true, layout: "bhsd" });
        expect(swapped.out.shape).toEqual([3, h, 9, 32]);
        expect(await bitsOf(swapped.out.transpose(1, 2))).toBe(await bitsOf(out));
        expect(await bitsOf(swapped.lse)).toBe(await bitsOf(lse));
      }
    });

    test("masks: bool, each float, all ways to broadcast, with every other option", () => {
      const inputs = randomInputs({ b: 2, h: 4, hk: 2, sq: 70, sk: 67, d: 16 }, place);
      const shapes = [
        [2, 4, 70, 67],
        [1, 4, 70, 67],
        [2, 1, 1, 67],
        [70, 67],
        [67],
        [4, 70, 1],
        [1],
        [],
      ];
      for (const shape of isEmulated ? shapes.slice(2, 6) : shapes) {
        const values = randn(shape, { seed: 8 });
        const seen = tensor(
          Uint8Array.from(values.dataSync() as Float32Array, (x) => (x > -0.5 ? 1 : 0)),
          { shape, dtype: "bool", device },
        );
        expectAttention(inputs, { mask: seen });
        expectAttention(inputs, { mask: seen, causal: true, softcap: 1, windowLeft: 30 });
        for (const biasDtype of isEmulated ? ([dtype] as const) : dtypes) {
          expectAttention(inputs, { mask: values.to({ dtype: biasDtype, device }), causal: true });
        }
      }
    });

    test("sinks, also where a row has no key", () => {
      const sinks = tensor([-1, 0, 3, Number.NEGATIVE_INFINITY], { device });
      const inputs = randomInputs({ b: 2, h: 4, hk: 2, sq: 40, sk: 35, d: 16 }, place);
      expectAttention(inputs, { sinks });
      const { out, lse } = expectAttention(inputs, { sinks, causal: true, windowLeft: 9 });
      expect([...valuesOf(lse.select(0, 0).select(1, 0))]).toEqual([-1, 0, 3, -Infinity]);
      expect([...valuesOf(out.select(1, 0))].every((x) => x === 0)).toBe(true);
    });

    test("softmaxScale, softcap, and windows beyond every key", () => {
      const inputs = randomInputs({ h: 2, sq: 33, sk: 80, d: 32 }, place);
      expectAttention(inputs, { softmaxScale: 0.5 });
      expectAttention(inputs, { softmaxScale: 1e-3, softcap: 0.5 });
      expectAttention(inputs, { softcap: 50 });
      expectAttention(inputs, { windowLeft: 2 ** 40, windowRight: 2 ** 31 });
    });

    test.each([1e4, 1e6, 1e30, 3.4e38])("a cap of %f, far above the scores, is none", (softcap) => {
      const inputs = randomInputs({ h: 2, sq: 33, sk: 40, d: 32 }, place);
      const { lse } = expectAttention(inputs, { softcap });
      expectClose(lse, valuesOf(expectAttention(inputs).lse), { atol: 1e-5 });
    });

    test("outDtype, out, lse", async () => {
      const inputs = randomInputs({ b: 2, h: 2, sq: 33, sk: 40, d: 20 }, place);
      const { q, k, v } = inputs;
      for (const outDtype of dtypes) {
        const { out } = expectAttention(inputs, { outDtype });
        expect(out.dtype).toBe(outDtype);
        const given = poisoned(q.shape, { dtype: outDtype, device });
        expect(attention(q, k, v, { outDtype, out: given })).toBe(given);
        expect(await bitsOf(given)).toBe(await bitsOf(out));
      }
      const { lse } = attentionWithLse(q, k, v);
      const given = poisoned([2, 2, 33], { device });
      attention(q, k, v, { lse: given });
      expect(await bitsOf(given)).toBe(await bitsOf(lse));
      expect(attentionWithLse(q, k, v, { lse: given }).lse).toBe(given);
      const strided = zeros([33, 2, 2], { device }).permute([1, 2, 0]);
      attention(q, k, v, { lse: strided });
      expect(await bitsOf(strided)).toBe(await bitsOf(lse));
    });

    test("weights sum to one: values of 1 give 1", () => {
      const { q, k } = randomInputs({ h: 2, sq: 70, sk: 300, d: 64 }, place);
      const out = attention(q, k, ones([1, 300, 2, 64], place), { causal: true });
      // Weights are rounded to the dtype before they are summed over values, their sum is not.
      expectClose(out, new Float64Array(out.size).fill(1), dtype === "float32" ? {} : { ulps: 1 });
    });

    test("the order of keys does not matter", () => {
      const inputs = randomInputs({ sq: 20, sk: 150, d: 32 }, place);
      const { q, k, v } = inputs;
      const order = Array.from({ length: 150 }, (_, i) => (i * 41) % 150);
      const [k2, v2] = [k, v].map((x) => {
        const shuffled = zeros(x.shape, place);
        order.forEach((from, to) => {
          shuffled.narrow(1, to, 1).copyFrom(x.narrow(1, from, 1));
        });
        return shuffled;
      });
      const a = expectAttention(inputs);
      const b = attentionWithLse(q, k2!, v2!);
      expectClose(b.lse, valuesOf(a.lse), { rtol: 1e-6, atol: 1e-6 });
      expectClose(b.out, valuesOf(a.out), { ofLargest: dtype === "float32" ? 1e-6 : 2 ** -7 });
    });

    test("the same call gives the same bits", async () => {
      const [b, h] = isEmulated ? [1, 2] : [2, 3];
      const { q, k, v } = randomInputs({ b, h, sq: 130, sk: 200, d: 64 }, place);
      const first = await bitsOf(attention(q, k, v, { causal: true }));
      expect(await bitsOf(attention(q, k, v, { causal: true }))).toBe(first);
    });
  });
});
