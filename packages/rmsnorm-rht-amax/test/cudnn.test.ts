// The cases of cuDNN frontend's test_rmsnorm_rht_amax.py (v1.23), with its tolerances: 256 rows of
// bfloat16, out within 4e-2 + 1e-2 |y|, amax within 2e-3 + 1e-3 |y|.
import { empty, randn, type Tensor } from "@warpwright/runtime";
import { expectClose, poisoned, testDevices, valuesOf } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { RmsnormRhtAmax, rmsnormRhtAmax } from "../src/index.js";
import { rmsnormRhtAmaxReference } from "./reference.js";

const pairs = [
  [2048, 128],
  [4096, 256],
  [7168, 128],
  [8192, 512],
  [16_384, 1024],
  [32_768, 512],
] as const;

const numRows = isEmulated ? 8 : 256;

describe.each(testDevices())("cuDNN frontend's cases on %s", (device) => {
  const place = { dtype: "bfloat16", device } as const;

  const inputsOf = (n: number) => ({
    x: randn([numRows, n], { seed: n, ...place }),
    weight: randn([n], { seed: 1, ...place }),
  });

  function check(x: Tensor, weight: Tensor, rowsPerCta: number, out: Tensor, amax: Tensor): void {
    const wanted = rmsnormRhtAmaxReference(valuesOf(x), valuesOf(weight), { rowsPerCta });
    expectClose(out, wanted.out, { rtol: 1e-2, atol: 4e-2, name: "out" });
    expectClose(amax, wanted.amax, { rtol: 1e-3, atol: 2e-3, name: "amax" });
    for (const each of [x, weight, out, amax]) each.dispose();
  }

  test.each(pairs)("the class: %i columns, %i threads", (n, numThreads) => {
    const { x, weight } = inputsOf(n);
    const out = poisoned(x.shape, place);
    const amax = empty([numRows / 2], { device }).fill(Number.NEGATIVE_INFINITY);
    const tensors = { x, weight, out, amax };
    const norm = new RmsnormRhtAmax({ ...tensors, eps: 1e-5, numThreads, rowsPerCta: 2 });
    expect(norm.checkSupport()).toBe(true);
    norm.compile();
    expect(norm.execute(tensors)).toBeUndefined();
    check(x, weight, 2, out, amax);
  });

  const wrapped = pairs.flatMap((pair) => [2, 4, 8].map((rows) => [...pair, rows] as const));
  test.each(wrapped)(
    "the function: %i columns, %i threads, %i rows",
    (n, numThreads, rowsPerCta) => {
      const { x, weight } = inputsOf(n);
      const options = { eps: 1e-5, numThreads, rowsPerCta };
      const { out, amax } = rmsnormRhtAmax(x, weight, options);
      expect(out.shape).toEqual([numRows, n]);
      expect(amax.shape).toEqual([numRows / rowsPerCta]);
      check(x, weight, rowsPerCta, out, amax);
    },
  );
});
