import { randn, type Tensor, zeros } from "@warpwright/runtime";
import {
  expanded,
  inputLayouts,
  misaligned,
  poisoned,
  testDevices,
  withCanaries,
} from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { addRmsnorm, rmsnorm } from "../src/index.js";
import { bitsOf, dtypes, expectRmsnorm, randomWeight } from "./support.js";

describe.each(testDevices())("layouts on %s", (device) => {
  describe.each(dtypes)("%s", (dtype) => {
    const place = { dtype, device };

    test.each(inputLayouts.map((layout) => [layout.name, layout] as const))(
      "%s: the same bits as contiguous",
      async (_, layout) => {
        for (const hiddenSize of [8, 63, 640, 4096, 9000]) {
          const x = randn([3, 4, hiddenSize], { seed: hiddenSize, ...place });
          const residual = randn(x.shape, { seed: 1, ...place });
          const weight = randomWeight(hiddenSize, place);
          const plain = addRmsnorm(x, residual, weight);
          const laidOut = addRmsnorm(layout.make(x), layout.make(residual), weight, {
            out: layout.make(x),
            residualOut: layout.make(x),
          });
          expect(await bitsOf(laidOut.out)).toBe(await bitsOf(plain.out));
          expect(await bitsOf(laidOut.residual)).toBe(await bitsOf(plain.residual));
          expect(await bitsOf(rmsnorm(layout.make(x), weight))).toBe(
            await bitsOf(rmsnorm(x, weight)),
          );
        }
      },
    );

    test("rows on a grid of two and three dimensions, and of four by way of a copy", () => {
      const x = randn([2, 3, 4, 5, 3 * 48], { seed: 4, ...place }).narrow(-1, 48, 48);
      const weight = randomWeight(48, place);
      const views: Tensor[] = [
        x.select(0, 1).select(0, 1), // 2 row dimensions
        x.select(0, 1).transpose(0, 2), // 3
        x.permute([3, 1, 0, 2, 4]), // 4, which do not collapse
        x.transpose(0, 1),
      ];
      for (const view of views) {
        expectRmsnorm(view, weight, { rstd: zeros(view.shape.slice(0, -1), { device }) });
        expectRmsnorm(view.clone(), weight, { out: poisoned(view.shape, place) });
      }
    });

    test("q and k normalised in place inside a fused qkv leave v alone", async () => {
      const qkv = randn([2, 5, 3, 4, 32], { seed: 8, ...place });
      const before = await qkv.select(2, 2).data();
      for (const part of [0, 1]) {
        const heads = qkv.select(2, part);
        const wanted = await bitsOf(rmsnorm(heads.clone()));
        rmsnorm(heads, null, { out: heads });
        expect(await bitsOf(heads)).toBe(wanted);
      }
      expect(await qkv.select(2, 2).data()).toEqual(before);
    });

    test("expanded rows are read once each, wherever they are", async () => {
      const row = randn([100], { seed: 3, ...place });
      const out = rmsnorm(expanded(row, 7));
      expect(await bitsOf(out.select(0, 6))).toBe(await bitsOf(rmsnorm(row)));
    });

    test("a strided weight is the dense one", async () => {
      const x = randn([3, 24], { seed: 3, ...place });
      const weight = randomWeight(24, place);
      const strided = zeros([24, 2], place).select(1, 1).copyFrom(weight);
      expect(await bitsOf(rmsnorm(x, strided))).toBe(await bitsOf(rmsnorm(x, weight)));
    });

    test.each([1, 5, 8, 64, 769, 4095, 4096, 16391])(
      "nothing but the rows is written: hidden size %i",
      async (hiddenSize) => {
        const x = randn([7, hiddenSize], { seed: 5, ...place });
        for (const [rowGuard, misalign] of [
          [0, 0],
          [1, 1],
          [8, 0],
          [3, 5],
        ] as const) {
          const guards = [1, 2].map(() =>
            withCanaries(x.shape, { dtype, device, rowGuard, misalign }),
          );
          const rstd = withCanaries([7], { device, misalign: 1 });
          const [out, residualOut] = guards.map((guard) => guard.tensor as Tensor);
          addRmsnorm(x, x, null, { out: out!, residualOut: residualOut!, rstd: rstd.tensor });
          await Promise.all([...guards, rstd].map((guard) => guard.check()));
          for (const guard of [...guards, rstd]) guard.dispose();
        }
      },
    );

    test("misaligned: each tensor by itself gives the aligned bits", async () => {
      for (const hiddenSize of [4096, 4095]) {
        const x = randn([5, hiddenSize], { seed: 6, ...place });
        const residual = randn(x.shape, { seed: 7, ...place });
        const weight = randomWeight(hiddenSize, place);
        const plain = await bitsOf(addRmsnorm(x, residual, weight).out);
        for (let offset = 1; offset < 8; offset++) {
          const off = (t: Tensor) => misaligned(t, offset);
          const results = [
            addRmsnorm(off(x), residual, weight),
            addRmsnorm(x, off(residual), weight),
            addRmsnorm(x, residual, off(weight)),
            addRmsnorm(x, residual, weight, { out: off(x) }),
            addRmsnorm(x, residual, weight, { residualOut: off(x) }),
          ];
          for (const { out } of results) expect(await bitsOf(out)).toBe(plain);
        }
      }
    });
  });
});
