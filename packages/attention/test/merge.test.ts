import { full, randn, type Tensor, zeros } from "@warpwright/runtime";
import {
  expectClose,
  misaligned,
  testDevices,
  transposedLast,
  valuesOf,
} from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { attentionWithLse, mergeAttention } from "../src/index.js";
import { attentionReference } from "./reference.js";
import {
  bitsOf,
  byHead,
  dtypes,
  expectAttention,
  expectLse,
  headValues,
  randomInputs,
} from "./support.js";

describe.each(testDevices())("mergeAttention on %s", (device) => {
  describe.each(dtypes)("%s", (dtype) => {
    const place = { dtype, device };

    test("parts of the keys merge to the whole, in any number", () => {
      const inputs = randomInputs({ b: 2, h: 4, hk: 2, sq: 19, sk: 150, d: 40 }, place);
      const { q, k, v } = inputs;
      const wanted = attentionReference(headValues(q), headValues(k), headValues(v));
      for (const parts of [2, 5]) {
        const length = 150 / parts;
        const partial = Array.from({ length: parts }, (_, i) => {
          const [a, b] = [k, v].map((x) => x.narrow(1, i * length, length));
          return attentionWithLse(q, a!, b!, { outDtype: "float32" });
        });
        const merged = partial.reduce((a, b) => mergeAttention(a.out, a.lse, b.out, b.lse));
        const whole = expectAttention(inputs, { outDtype: "float32" });
        const atol = dtype === "float32" ? 2e-6 : 0.01;
        expectClose(byHead(merged.out), wanted.out, { atol });
        expectClose(merged.out, valuesOf(whole.out), { atol });
        expectLse(merged.lse, wanted);
      }
    });

    test("causal parts, of which some rows see nothing", () => {
      const { q, k, v } = randomInputs({ h: 2, sq: 30, d: 16 }, place);
      // The keys before 20 as a window sees them, and the keys from 20 on, causal.
      const early = attentionWithLse(q.narrow(1, 0, 20), k.narrow(1, 0, 20), v.narrow(1, 0, 20), {
        causal: true,
        outDtype: "float32",
      });
      const wanted = attentionReference(headValues(q), headValues(k), headValues(v), {
        causal: true,
      });
      const late = attentionWithLse(q, k.narrow(1, 20, 10), v.narrow(1, 20, 10), {
        causal: true,
        outDtype: "float32",
      });
      const merged = mergeAttention(
        early.out,
        early.lse,
        late.out.narrow(1, 0, 20),
        late.lse.narrow(2, 0, 20),
      );
      expect(new Set(valuesOf(late.lse.narrow(2, 0, 20)))).toEqual(new Set([-Infinity]));
      const first = (values: Float64Array, size: number) =>
        [0, 1].flatMap((head) => [...values.subarray(head * 30 * size, (head * 30 + 20) * size)]);
      expectClose(byHead(merged.out), first(wanted.out, 16), {
        atol: dtype === "float32" ? 2e-6 : 0.01,
      });
      expectLse(merged.lse, { lse: Float64Array.from(first(wanted.lse, 1)) });
    });

    test.each([1, 7, 40, 128, 300])("weights by lse, %i columns, both layouts", async (d) => {
      const [outA, outB] = [1, 2].map((seed) => randn([2, 5, 3, d], { seed, ...place }));
      const [lseA, lseB] = [3, 4].map((seed) => randn([2, 3, 5], { seed, device }));
      const [a, b] = [lseA, lseB].map((lse) => [...valuesOf(lse!)].map(Math.exp));
      const shares = a!.map((x, i) => x / (x + b![i]!));
      const [x, y] = [outA, outB].map((out) => valuesOf(byHead(out!)));
      const wanted = x!.map((value, i) => {
        const share = shares[Math.floor(i / d)]!;
        return share * value + (1 - share) * y![i]!;
      });
      const { out, lse } = mergeAttention(outA!, lseA!, outB!, lseB!);
      const tolerance = { ulps: dtype === "float32" ? 4 : 0.5, atol: 1e-6 };
      expectClose(byHead(out), wanted, tolerance);
      expectClose(
        lse,
        a!.map((value, i) => Math.log(value + b![i]!)),
        { rtol: 1e-6, atol: 1e-6 },
      );
      const swapped = mergeAttention(byHead(outA!), lseA!, byHead(outB!), lseB!, {
        layout: "bhsd",
      });
      expect(await bitsOf(byHead(swapped.out))).toBe(await bitsOf(out));
    });

    test("in place, and any layout of memory", async () => {
      const inputs = (): [Tensor, Tensor, Tensor, Tensor] => [
        randn([2, 5, 3, 24], { seed: 1, ...place }),
        randn([2, 3, 5], { seed: 2, device }),
        randn([2, 5, 3, 24], { seed: 3, ...place }),
        randn([2, 3, 5], { seed: 4, device }),
      ];
      const wanted = mergeAttention(...inputs());
      const bits = await Promise.all([bitsOf(wanted.out), bitsOf(wanted.lse)]);
      for (const which of [0, 2] as const) {
        const given = inputs();
        const [out, lse] = [given[which], given[which + 1]!];
        expect(mergeAttention(...given, { out, lse })).toEqual({ out, lse });
        expect(await Promise.all([bitsOf(out), bitsOf(lse)])).toEqual(bits);
      }
      for (const layout of [(x: Tensor) => misaligned(x, 1), transposedLast]) {
        const given = inputs().map(layout) as ReturnType<typeof inputs>;
        const out = layout(zeros([2, 5, 3, 24], place));
        const lse = layout(zeros([2, 3, 5], { device }));
        mergeAttention(...given, { out, lse });
        expect(await Promise.all([bitsOf(out), bitsOf(lse)])).toEqual(bits);
      }
    });

    test("a part without keys has no influence, not even as NaN", async () => {
      const out = randn([1, 4, 2, 16], { seed: 1, ...place });
      out.narrow(3, 0, 1).fill(-0);
      const lse = randn([1, 2, 4], { seed: 2, device });
      const nothing = full(out.shape, Number.NaN, place);
      const noLse = full(lse.shape, Number.NEGATIVE_INFINITY, { device });
      for (const merged of [
        mergeAttention(nothing, noLse, out, lse),
        mergeAttention(out, lse, nothing, noLse),
      ]) {
        expect(await bitsOf(merged.out)).toBe(await bitsOf(out));
      }
    });
  });

  test("empty tensors give empty tensors", () => {
    const [out, lse] = [zeros([2, 0, 3, 8], { device }), zeros([2, 3, 0], { device })];
    const merged = mergeAttention(out, lse, out, lse);
    expect([merged.out.shape, merged.lse.shape]).toEqual([out.shape, lse.shape]);
  });

  test("rows of no columns have an lse nevertheless", () => {
    const [out, lse] = [zeros([2, 5, 3, 0], { device }), zeros([2, 3, 5], { device })];
    const merged = mergeAttention(out, lse, out.narrow(3, 0, 0), lse);
    expect(merged.out.shape).toEqual(out.shape);
    expectClose(merged.lse, new Float64Array(30).fill(Math.LN2), { atol: 1e-6 });
  });
});
