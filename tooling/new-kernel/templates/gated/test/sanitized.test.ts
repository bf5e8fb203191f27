// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { randn, type Tensor } from "@warpwright/runtime";
import { floatDTypes, misaligned, stridedRows } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { test } from "vitest";
import { expectNewKernel, expectNewKernelPair } from "./support.js";

const device = "cuda:0";

// Rows within a vector, of part of a tile's width, and of several tiles; one has a tail.
const sizes = [3, 96, 1000, 5003];

describeCuda("newKernel under compute-sanitizer", () => {
  test.each(floatDTypes.flatMap((dtype) => sizes.map((size) => [dtype, size] as const)))(
    "%s, rows of %i",
    (dtype, size) => {
      const x = randn([5, 2 * size], { seed: size, dtype, device });
      const results = [
        expectNewKernel(x),
        expectNewKernel(x, { interleaved: true }),
        expectNewKernel(misaligned(x, 1), { gate: "last", interleaved: true }),
        expectNewKernelPair(x, stridedRows(x, 1)),
      ];
      for (const tensor of [x, ...results] as Tensor[]) tensor.dispose();
    },
  );
});
