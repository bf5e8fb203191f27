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
import { addLayernorm, layernorm } from "../src/index.js";
import { bitsOf, dtypes, expectLayernorm, randomAffine } from "./support.js";

describe.each(testDevices())("layouts on %s", (device) => {
  describe.each(dtypes)("%s", (dtype) => {
    const place = { dtype, device };

    test.each(inputLayouts.map((layout) => [layout.name, layout] as const))(
      "%s: the same bits as contiguous",
      async (_, layout) => {
        for (const hiddenSize of [8, 63, 640, 4096, 9000]) {
          const x = randn([3, 4, hiddenSize], { seed: hiddenSize, ...place });
          const residual = randn(x.shape, { seed: 1, ...place });
          const { weight, bias } = randomAffine(hiddenSize, place);
          const plain = addLayernorm(x, residual, weight, bias);
          const laidOut = addLayernorm(layout.make(x), layout.make(residual), weight, bias, {
            out: layout.make(x),
            residualOut: layout.make(x),
          });
          expect(await bitsOf(laidOut.out)).toBe(await bitsOf(plain.out));
          expect(await bitsOf(laidOut.residual)).toBe(await bitsOf(plain.residual));
        }
      },
    );

    test("rows on a grid of two and three dimensions, and of four by way of a copy", () => {
      const x = randn([2, 3, 4, 5, 3 * 48], { seed: 4, ...place }).narrow(-1, 48, 48);
      const affine = randomAffine(48, place);
      const views: Tensor[] = [
        x.select(0, 1).select(0, 1), // 2 row dimensions
        x.select(0, 1).transpose(0, 2), // 3
        x.permute([3, 1, 0, 2, 4]), // 4, which do not collapse
      ];
      for (const view of views) {
        const [mean, rstd] = [1, 2].map(() => zeros(view.shape.slice(0, -1), { device }));
        expectLayernorm(view, affine, { mean, rstd });
        expectLayernorm(view.clone(), affine, { out: poisoned(view.shape, place) });
      }
    });

    test("expanded rows are read once each, wherever they are", async () => {
      const row = randn([100], { seed: 3, ...place });
      const out = layernorm(expanded(row, 7));
      expect(await bitsOf(out.select(0, 6))).toBe(await bitsOf(layernorm(row)));
    });

    test("strided parameters and statistics are the dense ones", async () => {
      const x = randn([3, 24], { seed: 3, ...place });
      const dense = randomAffine(24, place);
      const [weight, bias] = [dense.weight, dense.bias].map((t) =>
        zeros([24, 2], place).select(1, 1).copyFrom(t),
      );
      const [mean, rstd] = [0, 1].map((i) => zeros([3, 2], { device }).select(1, i));
      const out = expectLayernorm(x, { weight: weight!, bias: bias! }, { mean, rstd });
      expect(await bitsOf(out)).toBe(await bitsOf(layernorm(x, dense.weight, dense.bias)));
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
          const [out, residualOut] = [1, 2].map(() =>
            withCanaries(x.shape, { dtype, device, rowGuard, misalign }),
          );
          const [mean, rstd] = [1, 2].map(() => withCanaries([7], { device, misalign: 1 }));
          const guards = { out: out!, residualOut: residualOut!, mean: mean!, rstd: rstd! };
          const tensors = Object.entries(guards).map(([name, { tensor }]) => [name, tensor]);
          addLayernorm(x, x, null, null, Object.fromEntries(tensors));
          await Promise.all(Object.values(guards).map((guard) => guard.check()));
          for (const guard of Object.values(guards)) guard.dispose();
        }
      },
    );

    test("RN-10: misaligned, each tensor by itself, gives the aligned bits", async () => {
      for (const hiddenSize of [4096, 4095]) {
        const x = randn([5, hiddenSize], { seed: 6, ...place });
        const residual = randn(x.shape, { seed: 7, ...place });
        const { weight, bias } = randomAffine(hiddenSize, place);
        const plain = await bitsOf(addLayernorm(x, residual, weight, bias).out);
        for (let offset = 1; offset < 8; offset++) {
          const off = (t: Tensor) => misaligned(t, offset);
          const results = [
            addLayernorm(off(x), residual, weight, bias),
            addLayernorm(x, off(residual), weight, bias),
            addLayernorm(x, residual, off(weight), bias),
            addLayernorm(x, residual, weight, off(bias)),
            addLayernorm(x, residual, weight, bias, { out: off(x) }),
            addLayernorm(x, residual, weight, bias, { residualOut: off(x) }),
          ];
          for (const { out } of results) expect(await bitsOf(out)).toBe(plain);
        }
      }
    });
  });
});
