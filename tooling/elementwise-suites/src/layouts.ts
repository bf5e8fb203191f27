import { type Tensor, zeros } from "@warpwright/runtime";
import { inputLayouts, misaligned, poisoned, testDevices, withCanaries } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { bitsOf, dtypes, expectForm, type Operation, randomOperands } from "./forms.js";

// Less than a vector, whole vectors, a tail, and rows of several tiles.
const widths = [1, 4, 8, 63, 640, 4100];

/** Strides and alignments: the same bits as of contiguous tensors, and nothing else is written. */
export function testLayouts(operation: Operation): void {
  const cases = testDevices().flatMap((device) =>
    operation.forms.flatMap((form) => dtypes.map((dtype) => ({ device, form, dtype }))),
  );
  describe.each(cases)("$form.name on $device, $dtype", ({ form, ...place }) => {
    test.each(inputLayouts.map((layout) => [layout.name, layout] as const))(
      "%s: the same bits as contiguous",
      async (_, layout) => {
        for (const width of widths) {
          const operands = randomOperands(form, [3, 4, width], place);
          const tensors = form.pack(operands);
          const plain = form.call(tensors);
          const laidOut = tensors.map((tensor) => layout.make(tensor));
          const bits = await bitsOf(plain);
          expect(await bitsOf(form.call(laidOut))).toBe(bits);
          const out = layout.make(plain).fill(Number.NaN);
          expect(await bitsOf(form.call(laidOut, { out }))).toBe(bits);
        }
      },
    );

    test("each tensor misaligned by itself", async () => {
      for (const width of [4096, 4095]) {
        const tensors = form.pack(randomOperands(form, [5, width], place));
        const plain = form.call(tensors);
        const bits = await bitsOf(plain);
        for (let offset = 1; offset < 8; offset++) {
          for (let which = 0; which < tensors.length; which++) {
            const moved = [...tensors];
            moved[which] = misaligned(tensors[which]!, offset);
            expect(await bitsOf(form.call(moved))).toBe(bits);
          }
          const out = misaligned(plain, offset).fill(Number.NaN);
          expect(await bitsOf(form.call(tensors, { out }))).toBe(bits);
        }
      }
    });

    test("rows on a grid of two and three dimensions, and of four by way of a copy", () => {
      const [d0, d1, d2, d3, width] = [2, 3, 4, 5, 24];
      const views: ((x: Tensor) => Tensor)[] = [
        (x) => x.select(0, 1).select(0, 1),
        (x) => x.select(0, 1).transpose(0, 2),
        (x) => x.permute([3, 1, 0, 2, 4]),
        (x) => x.narrow(3, 0, 1).narrow(2, 1, 2),
      ];
      for (const view of views) {
        const shape = [d0, d1, d2, d3, width];
        const operands = randomOperands(form, shape, place);
        const out = view(zeros(shape, place).fill(Number.NaN));
        const laidOut = form.call(form.pack(operands).map(view));
        const direct = expectForm(operation, form, operands.map(view), { out });
        expect(laidOut.tolist()).toEqual(direct.tolist());
      }
    });

    test.each([1, 5, 8, 64, 769, 4096])("nothing but the result is written: %i", async (width) => {
      const tensors = form.pack(randomOperands(form, [7, width], place));
      for (const [rowGuard, misalign] of [
        [0, 0],
        [1, 1],
        [8, 0],
        [3, 5],
      ] as const) {
        const guarded = withCanaries([7, width], { ...place, rowGuard, misalign });
        form.call(tensors, { out: guarded.tensor });
        await guarded.check();
        guarded.dispose();
      }
    });

    if (form.parameters.length === form.operands) {
      test("in place, each argument in its turn", async () => {
        for (const width of [1, 100, 4096]) {
          for (let which = 0; which < form.operands; which++) {
            const operands = randomOperands(form, [6, width], place);
            const wanted = await bitsOf(form.call(operands));
            const out = operands[which]!;
            expect(form.call(operands, { out })).toBe(out);
            expect(await bitsOf(out)).toBe(wanted);
          }
        }
      });
    }

    test("an out beside the input in the rows of one tensor", async () => {
      const [tensor, ...others] = form.pack(randomOperands(form, [3, 32], place));
      const width = tensor!.shape[1]!;
      const wide = poisoned([3, width + 32], place);
      const inside = wide.narrow(1, 0, width).copyFrom(tensor!);
      const out = wide.narrow(1, width, 32);
      form.call([inside, ...others], { out });
      expect(await bitsOf(out)).toBe(await bitsOf(form.call([tensor!, ...others])));
    });
  });
}
