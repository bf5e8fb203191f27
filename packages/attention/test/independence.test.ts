// A query's result does not depend on the others or on their number, to the last bit.
import { tensor } from "@warpwright/runtime";
import { testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { type AttentionOptions, attention } from "../src/index.js";
import { bitsOf, byHead, dtypes, type Inputs, randomInputs } from "./support.js";

describe.each(testDevices())("a query's row on %s", (device) => {
  test("bfloat16, alone and among others", async () => {
    const { q, k, v } = randomInputs({ sq: 140, sk: 90, d: 64 }, { dtype: "bfloat16", device });
    const all = byHead(attention(q, k, v));
    for (const query of [0, 77, 139]) {
      const alone = byHead(attention(q.narrow(1, query, 1), k, v));
      expect(await bitsOf(alone)).toBe(await bitsOf(all.narrow(2, query, 1)));
    }
  });

  test.each(dtypes)("%s, under a window", async (dtype) => {
    const { q, k, v } = randomInputs({ sq: 70, sk: 90, d: 16 }, { dtype, device });
    const options = { windowLeft: 21, windowRight: 9 };
    const all = byHead(attention(q, k, v, options));
    for (const count of [1, 6, 41]) {
      const last = byHead(attention(q.narrow(1, 70 - count, count), k, v, options));
      expect(await bitsOf(last)).toBe(await bitsOf(all.narrow(2, 70 - count, count)));
    }
  });

  test.each(dtypes)("%s, beside NaN and beside large scores", async (dtype) => {
    const place = { dtype, device };
    const { q, k: unit, v } = randomInputs({ sq: 70, sk: 50, d: 24 }, place);
    const keys = valuesOf(unit).map((value) => 1000 * value);
    const k = tensor(keys, { shape: unit.shape, ...place });
    const before = byHead(attention(q, k, v));
    for (const [query, value] of [
      [3, Number.NaN],
      [66, 60_000],
    ] as const) {
      const spoilt = q.clone();
      spoilt.narrow(1, query, 1).fill(value);
      const after = byHead(attention(spoilt, k, v));
      for (const [first, count] of [
        [0, query],
        [query + 1, 69 - query],
      ] as const) {
        const rows = [before, after].map((out) => out.narrow(2, first, count));
        expect(await bitsOf(rows[1]!)).toBe(await bitsOf(rows[0]!));
      }
    }
  });

  // The GPU has no parts.
  describe.runIf(device === "cpu")("over parts of the keys", () => {
    const options = { windowLeft: 1500, windowRight: 40 };

    // Alone, few (of a head or of the two that share keys), and many.
    test.each(dtypes.flatMap((dtype) => [24, 64, 128, 200].map((d) => [dtype, d] as const)))(
      "%s, head dim %i",
      (dtype, d) => {
        for (const h of [2, 4]) {
          const sizes = { sq: 60, sk: 2300, h, hk: 2, d };
          const { q, k, v } = randomInputs(sizes, { dtype, device });
          expectSameRows({ q, k, v }, options);
        }
      },
    );

    test.each(dtypes)("%s, infinities and NaN", (dtype) => {
      const { q, k, v } = randomInputs({ sq: 60, sk: 1100, h: 2, d: 40 }, { dtype, device });
      k.narrow(1, 1098, 1).fill(Number.NaN);
      v.narrow(1, 1097, 1).fill(Number.POSITIVE_INFINITY);
      // Hidden from most of the queries, and some columns of what all of them see.
      v.narrow(1, 30, 1).narrow(3, 5, 1).fill(Number.NEGATIVE_INFINITY);
      expectSameRows({ q, k, v }, { causal: true });
      expectSameRows({ q, k, v }, { causal: true, softcap: 4 });
    });

    /** The last queries stand at the same keys without the others. */
    function expectSameRows(inputs: Inputs, options: AttentionOptions): void {
      const { q, k, v } = inputs;
      const all = byHead(attention(q, k, v, options));
      for (const count of [1, 2, 3, 4, 5, 7, 20, 40]) {
        const last = byHead(attention(q.narrow(1, 60 - count, count), k, v, options));
        // Which of two NaN an operation hands on is the compiler's choice: all of them are alike.
        expect([...valuesOf(last)]).toEqual([...valuesOf(all.narrow(2, 60 - count, count))]);
      }
    }
  });
});
