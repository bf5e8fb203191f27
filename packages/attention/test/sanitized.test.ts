// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { full, randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import { misaligned, valuesOf } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { attention, mergeAttention } from "../src/index.js";
import {
  bitsOf,
  dtypes,
  expectAttention,
  halves,
  type Inputs,
  type Place,
  randomInputs,
} from "./support.js";

const device = "cuda:0";

// One head dim for each tile: within it, and all of it.
const tiles = [
  [40, 64],
  [72, 96],
  [104, 128],
  [136, 128],
  [200, 256],
] as const;

/** Keys that grow, and queries of several sizes: each row's softmax changes its base elsewhere. */
function growing(d: number, place: Place): Inputs {
  const { q, k, v } = randomInputs({ sq: 131, sk: 300, d }, place);
  const scaled = (x: Tensor, scale: (row: number) => number) =>
    tensor(
      valuesOf(x).map((value, i) => value * scale(Math.floor(i / d))),
      { shape: x.shape, ...place },
    );
  return { q: scaled(q, (row) => row % 5), k: scaled(k, (row) => 1 + row / 40), v };
}

describeCuda("attention under compute-sanitizer", () => {
  test.each(halves.flatMap((dtype) => tiles.map(([d, dv]) => [dtype, d, dv] as const)))(
    "%s, head dims %i and %i",
    (dtype, d, dv) => {
      const place = { dtype, device } as const;
      // Two blocks of queries or more, two tiles of keys or more; the last of them are short.
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

  test.each(tiles)("scores that leave those before far behind, head dims %i and %i", (d) => {
    for (const dtype of halves) expectAttention(growing(d, { dtype, device }));
  });

  test("heads in sections by the size of k and v, the last one short", async () => {
    const place = { dtype: "bfloat16", device } as const;
    const { q, k, v } = randomInputs({ h: 3, sq: 131, sk: 30_080, d: 64 }, place);
    const options = { causal: true, windowLeft: 20 };
    // From a multiple of every tile's keys on, so that tiles are the same.
    const [lastK, lastV] = [k, v].map((x) => x.narrow(1, 29_824, 256));
    const wanted = attention(q, lastK!, lastV!, options);
    expect(await bitsOf(attention(q, k, v, options))).toBe(await bitsOf(wanted));
  });

  test("values near the largest number, under weights that grow", () => {
    const place = { dtype: "bfloat16", device } as const;
    // The last key's score is 5 above the others', less than moves the base of the softmax: beside
    // weights of 1, 130 times a value is finite, and 148 times more is not.
    const q = full([1, 3, 1, 64], 1, place);
    const k = zeros([1, 131, 1, 64], place);
    k.narrow(1, 130, 1).fill(5 / 8);
    for (const value of [2e36, -2e36])
      expectAttention({ q, k, v: full([1, 131, 1, 64], value, place) });
  });

  test("bits do not depend on the other queries of a block", async () => {
    const place = { dtype: "bfloat16", device } as const;
    for (const { q, k, v } of [growing(64, place), growing(128, place)]) {
      const rows = attention(q, k, v);
      for (const row of [2, 4, 130]) {
        const alone = attention(q.narrow(1, row, 1), k, v);
        expect(await bitsOf(rows.narrow(1, row, 1))).toBe(await bitsOf(alone));
      }
    }
  });
});
