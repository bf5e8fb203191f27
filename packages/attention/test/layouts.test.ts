// The same values in other places: the bits of the result do not depend on them.
import { type Tensor, zeros } from "@warpwright/runtime";
import {
  expanded,
  inputLayouts,
  misaligned,
  poisoned,
  testDevices,
  valuesOf,
  withCanaries,
} from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { attention, attentionWithLse } from "../src/index.js";
import { bitsOf, dtypes, randomInputs } from "./support.js";

// Rows that are multiples of 16 bytes, and that are not; padded to a tile, and beyond a page of it.
const headDims = isEmulated ? [63, 64] : [8, 63, 64, 96, 130];
const sk = isEmulated ? 35 : 70;

describe.each(testDevices())("layouts on %s", (device) => {
  describe.each(dtypes)("%s", (dtype) => {
    const place = { dtype, device };
    const inputs = (d: number) => randomInputs({ b: 2, h: 4, hk: 2, sq: 9, sk, d }, place);

    test.each(inputLayouts.map((layout) => [layout.name, layout] as const))(
      "%s: the same bits as contiguous",
      async (_, layout) => {
        for (const d of headDims) {
          const { q, k, v } = inputs(d);
          const plain = attentionWithLse(q, k, v, { causal: true });
          const out = layout.make(poisoned(q.shape, place));
          const lse = layout.make(poisoned([2, 4, 9], { device }));
          const [q2, k2, v2] = [q, k, v].map(layout.make);
          attention(q2!, k2!, v2!, { causal: true, out, lse });
          expect(await bitsOf(out)).toBe(await bitsOf(plain.out));
          expect(await bitsOf(lse)).toBe(await bitsOf(plain.lse));
        }
      },
    );

    test("q, k and v at any offset from a boundary", async () => {
      for (const d of [63, 64]) {
        const { q, k, v } = inputs(d);
        const plain = await bitsOf(attention(q, k, v));
        for (const offset of isEmulated ? [1] : [1, 2, 4]) {
          for (const off of [0, 1, 2]) {
            const at = (x: Tensor, which: number) => (which === off ? misaligned(x, offset) : x);
            expect(await bitsOf(attention(at(q, 0), at(k, 1), at(v, 2)))).toBe(plain);
          }
        }
      }
    });

    test("memory beside out and lse stays as it is", async () => {
      for (const d of [5, 64]) {
        const { q, k, v } = inputs(d);
        for (const [rowGuard, misalign] of [
          [0, 0],
          [1, 1],
          [8, 0],
        ] as const) {
          const out = withCanaries(q.shape, { rowGuard, misalign, ...place });
          const lse = withCanaries([2, 4, 9], { rowGuard, misalign, device });
          attention(q, k, v, { causal: true, out: out.tensor, lse: lse.tensor });
          await Promise.all([out.check(), lse.check()]);
        }
      }
    });

    test("one batch entry's keys for all: a stride of 0", async () => {
      const { q, k, v } = inputs(32);
      const [k0, v0] = [k, v].map((x) => x.select(0, 0));
      const shared = attention(q, expanded(k0!, 2), expanded(v0!, 2));
      const copied = [k0, v0].map((x) => expanded(x!, 2).contiguous());
      expect(await bitsOf(shared)).toBe(await bitsOf(attention(q, copied[0]!, copied[1]!)));
    });

    test("no keys under a mask cut to no columns, wherever it lies", () => {
      const { q, k, v } = inputs(16);
      const cut = (mask: Tensor) => mask.narrow(-1, 3, 0);
      const masks = [
        cut(zeros([2, 4, 9, 7], { device, dtype: "bool" })),
        cut(zeros([9, 7], { device })),
        cut(zeros([1, 9, 7], { device }).expand([4, 9, 7])),
        zeros([2, 0, 9], { device }).transpose(1, 2).unsqueeze(1),
      ];
      for (const mask of masks) {
        const { out, lse } = attentionWithLse(q, k.narrow(1, 3, 0), v.narrow(1, 3, 0), { mask });
        expect(new Set(valuesOf(out))).toEqual(new Set([0]));
        expect(new Set(valuesOf(lse))).toEqual(new Set([-Infinity]));
      }
    });

    test("sinks with a stride", async () => {
      const { q, k, v } = inputs(16);
      const sinks = zeros([4, 2], { device }).select(1, 1).fill(0.5);
      const plain = await bitsOf(attention(q, k, v, { sinks: sinks.contiguous() }));
      expect(await bitsOf(attention(q, k, v, { sinks }))).toBe(plain);
    });
  });
});
