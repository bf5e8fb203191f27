// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { full, randn, tensor, zeros } from "@warpwright/runtime";
import { misaligned } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { attention, mergeAttention } from "../src/index.js";
import { bitsOf, dtypes, expectAttention, halves, randomInputs } from "./support.js";

const device = "cuda:0";

// One head dim for each tile: within it, and all of it.
const tiles = [
  [40, 64],
  [72, 96],
  [104, 128],
  [136, 128],
  [200, 256],
] as const;

describeCuda("attention under compute-sanitizer", () => {
  test.each(halves.flatMap((dtype) => tiles.map(([d, dv]) => [dtype, d, dv] as const)))(
    "%s, head dims %i and %i",
    (dtype, d, dv) => {
      const place = { dtype, device } as const;
      // Two blocks of queries, of which the last is short; three tiles of keys, of which one is.
      const inputs = randomInputs({ h: 2, hk: 1, sq: 131, sk: 150, d, dv }, place);
      expectAttention(inputs, { causal: true });
      expectAttention(inputs, { windowLeft: 30, windowRight: 4, outDtype: "float32" });
      const mask = randn([131, 150], { seed: 9, device });
      expectAttention(inputs, { causal: true, mask, softcap: 3 });
      const odd = { ...inputs, k: misaligned(inputs.k, 1) };
      expectAttention(odd, { sinks: tensor([0, 1], { device }) });
    },
  );

  test.each([40, 100, 200])("float32, head dim %i", (d) => {
    const place = { dtype: "float32", device } as const;
    const inputs = randomInputs({ h: 2, hk: 1, sq: 67, sk: 70, d }, place);
    expectAttention(inputs, { causal: true });
    const mask = tensor(
      Array.from({ length: 70 }, (_, key) => (key % 3 ? 1 : 0)),
      { dtype: "bool", device },
    );
    expectAttention(inputs, {
      mask,
      softcap: 3,
      windowLeft: 40,
      sinks: tensor([0, 1], { device }),
    });
  });

  test.each(dtypes)("%s: hidden keys of NaN, by the slow way", (dtype) => {
    const place = { dtype, device } as const;
    const { q, k, v } = randomInputs({ sq: 70, sk: 70, d: 72 }, place);
    for (const bad of [k, v]) bad.narrow(1, 69, 1).fill(Number.NaN);
    expectAttention({ q, k, v }, { causal: true });
  });

  test.each(dtypes)("%s: no keys, no queries", (dtype) => {
    const place = { dtype, device } as const;
    expectAttention(randomInputs({ sq: 3, sk: 0, d: 72 }, place));
    expectAttention(randomInputs({ sq: 0, sk: 3, d: 72 }, place));
    expectAttention(randomInputs({ sq: 70, sk: 2, d: 72 }, place), { causal: true });
  });

  test.each(dtypes)("%s: merging", async (dtype) => {
    for (const d of [8, 100]) {
      const out = randn([2, 9, 3, d], { seed: 1, dtype, device });
      const lse = randn([2, 3, 9], { seed: 2, device });
      const none = full(lse.shape, Number.NEGATIVE_INFINITY, { device });
      const merged = mergeAttention(out, lse, zeros(out.shape, { dtype, device }), none);
      expect(await bitsOf(merged.out)).toBe(await bitsOf(out));
      mergeAttention(misaligned(out, 1), lse, out, lse, { out, lse });
    }
  });

  test("bits do not depend on the other queries of a block", async () => {
    const { q, k, v } = randomInputs({ sq: 131, sk: 80, d: 64 }, { dtype: "bfloat16", device });
    const alone = attention(q.narrow(1, 130, 1), k, v);
    expect(await bitsOf(attention(q, k, v).narrow(1, 130, 1))).toBe(await bitsOf(alone));
  });
});
