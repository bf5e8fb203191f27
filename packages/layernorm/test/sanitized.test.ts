// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { empty, full, randn, type Tensor, tensor, zeros } from "@warpwright/runtime";
import { expectClose, floatDTypes, misaligned, stridedRows } from "@warpwright/testing";
import { describeCuda, rowLengths, rowMappings, vectorSize } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { layernorm } from "../src/index.js";
import { expectAddLayernorm, expectLayernorm, randomAffine } from "./support.js";

const device = "cuda:0";

/** Whether the emulator takes rows of so many vectors in one way alone; shorter ones take all. */
function isLong(count: number): boolean {
  return isEmulated && count > 9000;
}

function disposeAll(tensors: readonly Tensor[]): void {
  for (const tensor of tensors) tensor.dispose();
}

describeCuda("layernorm under compute-sanitizer", () => {
  test.each(floatDTypes.flatMap((dtype) => rowLengths.map((count) => [dtype, count] as const)))(
    "%s, rows of %i vectors",
    (dtype, count) => {
      const place = { dtype, device } as const;
      const once = isLong(count);
      // The second has a tail, and an odd row pitch.
      const whole = count * vectorSize(dtype);
      for (const hiddenSize of once ? [whole - 1] : [whole, whole - 1]) {
        const rows = once ? 1 : count > 4096 ? 2 : 5;
        const x = randn([rows, hiddenSize], { seed: count, ...place });
        const residual = misaligned(randn(x.shape, { seed: 1, ...place }), 1);
        const affine = randomAffine(hiddenSize, place);
        const [mean, rstd] = [1, 2].map(() => empty([rows], { device })) as [Tensor, Tensor];
        const sum = expectAddLayernorm(x, residual, affine);
        const norm = expectLayernorm(x, affine, { mean, rstd });
        disposeAll([x, residual, ...Object.values(affine), mean, rstd, norm]);
        disposeAll(Object.values(sum));
      }
    },
  );

  const shared = floatDTypes.flatMap((dtype) =>
    rowMappings.map(([name, count]) => [dtype, name, count] as const),
  );

  test.each(shared)("%s, a row to %s: no parameters, float32 ones", (dtype, _, count) => {
    const hiddenSize = count * vectorSize(dtype);
    const x = randn([2, hiddenSize], { seed: 1, dtype, device });
    const { weight, bias } = randomAffine(hiddenSize, { dtype: "float32", device });
    const [oddWeight, oddBias] = [weight, bias].map((t) => misaligned(t, 1)) as [Tensor, Tensor];
    const norms = [
      expectLayernorm(x),
      expectLayernorm(x, { weight, bias }),
      expectLayernorm(x, { weight: oddWeight }),
      expectLayernorm(x, { bias: oddBias }),
    ];
    disposeAll([x, weight, bias, oddWeight, oddBias, ...norms]);
  });

  test.each(shared)("%s, a row to %s: strided rows, in place", (dtype, _, count) => {
    const place = { dtype, device } as const;
    const hiddenSize = count * vectorSize(dtype);
    for (const gap of isLong(count) ? [vectorSize(dtype)] : [vectorSize(dtype), 1]) {
      const [x, residual] = [1, 2].map((seed) =>
        stridedRows(randn([2, hiddenSize], { seed, ...place }), gap),
      );
      const affine = randomAffine(hiddenSize, place);
      expectAddLayernorm(x!, residual!, affine, { out: x!, residualOut: residual! });
      expectLayernorm(residual!, affine, { out: residual! });
      disposeAll([x!, residual!, ...Object.values(affine)]);
    }
  });

  // Sums and squares that overflow, squares that fade: the row is looked at again, scaled.
  test.each(shared.filter(([dtype]) => dtype !== "float16"))(
    "%s, a row to %s: values beyond float32's squares",
    (dtype, _, count) => {
      const hiddenSize = count * vectorSize(dtype);
      const signs = Float32Array.from({ length: 2 * hiddenSize }, (_, i) => (i % 2 ? 1 : -1));
      for (const magnitude of [3e38, 1e25, 1e-25]) {
        const values = signs.map((sign) => sign * magnitude);
        const x = tensor(values, { shape: [2, hiddenSize], dtype, device });
        const rstd = zeros([2], { device });
        const out = layernorm(x, null, null, { eps: 0, rstd });
        expectClose(out, signs, { rtol: 6e-6 });
        disposeAll([x, rstd, out]);
      }
    },
  );

  // The mean's rounding outweighs the spread: the row is looked at again, centred anew.
  test.each(shared)("%s, a row to %s: equal values", async (dtype, _, count) => {
    const hiddenSize = count * vectorSize(dtype) - 1;
    const x = full([2, hiddenSize], 0.1, { dtype, device });
    const out = layernorm(x);
    expect((await out.data()).every((y) => y === 0)).toBe(true);
    disposeAll([x, out]);
  });
});
