import type { Tensor } from "@warpwright/runtime";
import { misaligned, stridedRows, withCanaries } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { describe, test } from "vitest";
import { dtypes, expectForm, type Operation, randomOperands } from "./forms.js";

const device = "cuda:0";

// One long row and rows of a pitch: with whole vectors alone, with a tail in the first tile and in
// the last, and more rows than a block takes at once.
const shapes = [
  [3, 64],
  [5, 4164],
  [300, 9],
] as const;

/** Every instance of the operation's kernels, small, for compute-sanitizer. */
export function testSanitized(operation: Operation): void {
  describeCuda(`${operation.name} under compute-sanitizer`, () => {
    const cases = operation.forms.flatMap((form) => dtypes.map((dtype) => ({ form, dtype })));
    describe.each(cases)("$form.name, $dtype", ({ form, dtype }) => {
      const place = { dtype, device } as const;
      // Aligned and not: a distance of 16 bytes between rows, or of one element.
      const moves: [string, (x: Tensor) => Tensor][] = [
        ["dense", (x) => x],
        ["strided", (x) => stridedRows(x, 8)],
        ["misaligned", (x) => misaligned(x, 1)],
      ];
      test.each(moves)("%s", async (_, move) => {
        for (const shape of shapes) {
          const operands = randomOperands(form, shape, place);
          const moved = { ...form, pack: (given: readonly Tensor[]) => form.pack(given).map(move) };
          const guarded = withCanaries(shape, { ...place, rowGuard: 8 });
          expectForm(operation, moved, operands, { out: guarded.tensor });
          await guarded.check();
          expectForm(operation, moved, operands).dispose();
          guarded.dispose();
        }
      });
    });
  });
}
