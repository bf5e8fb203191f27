// The subset that runs under compute-sanitizer: every kernel instance once or more, at sizes that
// the slowest tool gets through.
import { randn } from "@warpwright/runtime";
import { floatDTypes, misaligned, stridedRows, withCanaries } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { describe, test } from "vitest";
import { approximations } from "./reference.js";
import { expectGelu } from "./support.js";

const device = "cuda:0";

// One long row and rows of a pitch: with whole vectors alone, with a tail in the first tile and in
// the last, and more rows than a block takes at once.
const shapes = [
  [3, 64],
  [5, 4164],
  [300, 9],
] as const;

describeCuda("gelu under compute-sanitizer", () => {
  describe.each(approximations)("%s", (approximate) => {
    test.each(floatDTypes.flatMap((dtype) => shapes.map((shape) => [dtype, shape] as const)))(
      "%s %j",
      async (dtype, shape) => {
        const place = { dtype, device } as const;
        const x = randn(shape, { seed: 1, ...place });
        // Aligned and not: a distance of 16 bytes between rows, or of one element.
        for (const given of [x, stridedRows(x, 8), misaligned(x, 1)]) {
          const guarded = withCanaries(shape, { ...place, rowGuard: 8 });
          expectGelu(given, { approximate, out: guarded.tensor });
          await guarded.check();
          guarded.dispose();
          expectGelu(given, { approximate }).dispose();
          given.dispose();
        }
      },
    );
  });
});
