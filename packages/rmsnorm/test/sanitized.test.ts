// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { empty, randn, type Tensor } from "@warpwright/runtime";
import { misaligned } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { test } from "vitest";
import { dtypes, expectAddRmsnorm, expectRmsnorm, randomWeight } from "./support.js";

const device = "cuda:0";

// In vectors of 16 bytes: within, at and beyond each limit of rmsnorm.cu's tunings, then clusters of
// two and of eight blocks, and rows too long for those.
const vectors = [5, 32, 64, 128, 256, 512, 1024, 2048, 4096, 5000, 32_768, 33_000];

describeCuda("rmsnorm under compute-sanitizer", () => {
  test.each(dtypes.flatMap((dtype) => vectors.map((count) => [dtype, count] as const)))(
    "%s, rows of %i vectors",
    (dtype, count) => {
      const place = { dtype, device } as const;
      const vectorSize = dtype === "float32" ? 4 : 8;
      // The second has a tail, and an odd row pitch.
      for (const hiddenSize of [count * vectorSize, count * vectorSize - 1]) {
        const rows = count > 4096 ? 2 : 5;
        const x = randn([rows, hiddenSize], { seed: count, ...place });
        const residual = misaligned(randn(x.shape, { seed: 1, ...place }), 1);
        const weight = randomWeight(hiddenSize, place);
        const rstd = empty([rows], { device });
        const tensors: Tensor[] = [
          x,
          residual,
          weight,
          rstd,
          expectRmsnorm(x, weight, { rstd }),
          ...Object.values(expectAddRmsnorm(x, residual, weight, { casting: "llama" })),
        ];
        for (const tensor of tensors) tensor.dispose();
      }
    },
  );
});
