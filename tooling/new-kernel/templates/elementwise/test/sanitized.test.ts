// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { randn, type Tensor } from "@warpwright/runtime";
import { floatDTypes, misaligned, stridedRows } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { test } from "vitest";
import { expectNewKernel } from "./support.js";

const device = "cuda:0";

// Rows within a vector, of part of a tile's width, and of several tiles; one has a tail.
const sizes = [3, 96, 1000, 5003];

describeCuda("newKernel under compute-sanitizer", () => {
  test.each(floatDTypes.flatMap((dtype) => sizes.map((size) => [dtype, size] as const)))(
    "%s, rows of %i",
    (dtype, size) => {
      const x = randn([5, size], { seed: size, dtype, device });
      const out = expectNewKernel(x);
      const strided = stridedRows(x, 1);
      expectNewKernel(strided, { out: strided });
      const moved = expectNewKernel(misaligned(x, 1), { beta: 2 });
      for (const tensor of [x, out, strided, moved] as Tensor[]) tensor.dispose();
    },
  );
});
