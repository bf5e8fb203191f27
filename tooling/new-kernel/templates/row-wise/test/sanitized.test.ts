// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { empty, randn, type Tensor } from "@warpwright/runtime";
import { floatDTypes, misaligned, stridedRows } from "@warpwright/testing";
import { describeCuda, rowLengths, vectorSize } from "@warpwright/testing/vitest";
import { test } from "vitest";
import { expectNewKernel } from "./support.js";

const device = "cuda:0";

describeCuda("newKernel under compute-sanitizer", () => {
  test.each(floatDTypes.flatMap((dtype) => rowLengths.map((count) => [dtype, count] as const)))(
    "%s, rows of %i vectors",
    (dtype, count) => {
      const place = { dtype, device } as const;
      const size = count * vectorSize(dtype);
      // The second has a tail, and an odd row pitch.
      for (const hiddenSize of [size, size - 1]) {
        const x = randn([count > 4096 ? 2 : 5, hiddenSize], { seed: count, ...place });
        const inverse = empty(x.shape.slice(0, 1), { device });
        const out = expectNewKernel(x, { inverse });
        const strided = stridedRows(x, 1);
        expectNewKernel(strided, { out: strided });
        const moved = expectNewKernel(misaligned(x, 1));
        for (const tensor of [x, inverse, out, strided, moved] as Tensor[]) tensor.dispose();
      }
    },
  );
});
