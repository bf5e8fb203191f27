// What only a GPU can show.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { ones, randn, type Tensor, zeros } from "@warpwright/runtime";
import { valuesOf } from "@warpwright/testing";
import { describeCuda, testStreams } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { attention, attentionWithLse, mergeAttention } from "../src/index.js";
import { longCallees } from "./callees.js";
import { bitsOf, expectAttention, halves, randomInputs } from "./support.js";

const device = "cuda:0";

// AT-23: a head dim for each tile; 150 queries and keys for each of two heads.
testStreams(longCallees, {
  shapes: [
    [3, 64],
    [2, 96],
    [2, 128],
    [1, 256],
    [2, 77],
  ],
  large: [200, 128],
});

describeCuda("attention beyond 2^31 elements and 65535 blocks", () => {
  /** Zeros but for the last batch entry. */
  function farBatch(shape: number[], seed: number): { all: Tensor; last: Tensor } {
    const all = zeros(shape, { dtype: "bfloat16", device });
    const last = randn([1, ...shape.slice(1)], { seed, dtype: "bfloat16", device });
    all.narrow(0, shape[0]! - 1, 1).copyFrom(last);
    return { all, last };
  }

  test.each([
    ["AT-08: 1.3e9 elements each", [1600, 729, 16, 72]],
    ["AT-08: 2.15e9 elements each", [16_400, 128, 8, 128]],
    ["AT-11: 65,536 batches of 8 heads", [65_536, 4, 8, 64]],
    ["AT-11: 65,537 heads", [2, 3, 65_537, 16]],
  ] as const)("%s: the last batch entry is what it is alone", async (_, shape) => {
    const [q, k, v] = [1, 2, 3].map((seed) => farBatch([...shape], seed));
    const out = attention(q!.all, k!.all, v!.all);
    const alone = await bitsOf(attention(q!.last, k!.last, v!.last));
    expect(await bitsOf(out.narrow(0, shape[0] - 1, 1))).toBe(alone);
    for (const { all } of [q!, k!, v!]) all.dispose();
    // Keys of 0 give the mean of values of 0.
    const first = await out.narrow(0, 0, 1).data();
    expect(first.every((x) => x === 0)).toBe(true);
    out.dispose();
  });

  test("AT-09: a slot of a cache that is 2^30 elements long", async () => {
    const cache = zeros([3, 4096, 32, 2, 32, 128], { dtype: "float16", device });
    const slot = cache.select(0, 2).select(1, 31); // [4096, 2, 32, 128]
    const { q, k, v } = randomInputs(
      { h: 32, sq: 3, sk: 4096, d: 128 },
      { dtype: "float16", device },
    );
    const [inK, inV] = [0, 1].map((which) => slot.select(1, which).unsqueeze(0));
    inK!.copyFrom(k);
    inV!.copyFrom(v);
    expect(await bitsOf(attention(q, inK!, inV!))).toBe(await bitsOf(attention(q, k, v)));
    cache.dispose();
  });

  test("AT-11: more than 65,535 blocks of queries, and as many keys", () => {
    const size = 64 * 65_535 + 1;
    const q = ones([1, size, 1, 8], { dtype: "bfloat16", device });
    const k = ones([1, 70_000, 1, 8], { dtype: "bfloat16", device });
    const last = attention(q, k, k, { windowLeft: 100 }).narrow(1, size - 3, 3);
    expect(new Set(valuesOf(last))).toEqual(new Set([1]));
    const long = attention(q.narrow(1, 0, 2), k, k);
    expect(new Set(valuesOf(long))).toEqual(new Set([1]));
  });

  test("AT-28: merging 4.3e9 elements", async () => {
    const shape = [1, 1_048_580, 32, 128];
    const out = zeros(shape, { dtype: "bfloat16", device });
    const lse = zeros([1, 32, 1_048_580], { device });
    const last = randn([1, 4, 32, 128], { seed: 1, dtype: "bfloat16", device });
    out.narrow(1, shape[1]! - 4, 4).copyFrom(last);
    const other = zeros(shape, { dtype: "bfloat16", device });
    const merged = mergeAttention(out, lse, other, lse);
    const small = mergeAttention(
      last,
      zeros([1, 32, 4], { device }),
      zeros(last.shape, { dtype: "bfloat16", device }),
      zeros([1, 32, 4], { device }),
    );
    expect(await bitsOf(merged.out.narrow(1, shape[1]! - 4, 4))).toBe(await bitsOf(small.out));
    for (const x of [out, other, merged.out, merged.lse, lse]) x.dispose();
  });
});

describeCuda("attention at lengths that users have", () => {
  test.each(halves.flatMap((dtype) => [64, 96, 128, 256].map((d) => [dtype, d] as const)))(
    "%s, head dim %i: chosen queries of 4096 against float64",
    (dtype, d) => {
      const { q, k, v } = randomInputs({ h: 2, sq: 4096, d }, { dtype, device });
      const { out, lse } = attentionWithLse(q, k, v, { causal: true });
      for (const first of [0, 63, 2047, 4093]) {
        const rows = q.narrow(1, first, 3);
        const [seenK, seenV] = [k, v].map((x) => x.narrow(1, 0, first + 3));
        const alone = expectAttention({ q: rows, k: seenK!, v: seenV! }, { causal: true });
        const pairs = [
          [out.narrow(1, first, 3), alone.out, 0.02],
          [lse.narrow(2, first, 3), alone.lse, 1e-5],
        ] as const;
        for (const [found, wanted, most] of pairs) {
          const [a, b] = [valuesOf(found), valuesOf(wanted)];
          expect(Math.max(...a.map((x, i) => Math.abs(x - b[i]!)))).toBeLessThan(most);
        }
      }
    },
  );

  test("AT-32: the first call on a thread of its own", async () => {
    // Code without a file finds packages from the current folder, which may be any.
    const { resolve } = createRequire(import.meta.url);
    const [kernel, runtime] = ["@warpwright/attention", "@warpwright/runtime"].map((name) =>
      JSON.stringify(pathToFileURL(resolve(name)).href),
    );
    const program = `
      const { parentPort } = require("node:worker_threads");
      Promise.all([import(${kernel}), import(${runtime})]).then(
        async ([{ attention }, { ones }]) => {
          const x = ones([1, 4, 1, 64], { dtype: "bfloat16", device: "cuda:0" });
          parentPort.postMessage((await attention(x, x, x).data())[255]);
        });`;
    const worker = new Worker(program, { eval: true });
    const answer = new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    expect(await answer).toBe(1);
    await worker.terminate();
  });
});

describeCuda(
  "attention on a second GPU",
  () => {
    test("AT-22: the same bits on cuda:1 as on cuda:0", async () => {
      for (const dtype of ["float32", "float16"] as const) {
        const results: string[] = [];
        for (const where of ["cuda:1", "cuda:0", "cuda:1"] as const) {
          const { q, k, v } = randomInputs(
            { b: 4, h: 32, sq: 16, d: 64 },
            { dtype, device: where },
          );
          results.push(await bitsOf(attention(q, k, v)));
        }
        expect(new Set(results).size).toBe(1);
      }
    });
  },
  { devices: 2 },
);
