import { zeros } from "@warpwright/runtime";
import { poisoned, testDevices } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../vitest/emulated.js";
import { bitsOf, dtypes, expectForm, type Operation, randomOperands } from "./forms.js";

// One element; rows shorter than a vector, of one and of several, with and without a tail; as many
// rows as a block has threads and one more; rows of many tiles.
const shapes: readonly (readonly number[])[] = [
  [1],
  [1, 1],
  [3, 7],
  [2, 8],
  [5, 352],
  [1, 3420],
  [257, 20],
  [2, 3, 1421],
  [4, 10_944],
  ...(isEmulated ? [] : [[130, 5000]]),
];

/** Results against float64, for every form, dtype and number of elements. */
export function testValues(operation: Operation): void {
  describe.each(testDevices())(`${operation.name} on %s`, (device) => {
    describe.each(operation.forms)("$name", (form) => {
      describe.each(dtypes)("%s", (dtype) => {
        const place = { dtype, device };

        test.each(shapes.map((shape) => [shape.join(" x "), shape] as const))("%s", (_, shape) => {
          const operands = randomOperands(form, shape, place);
          expect(expectForm(operation, form, operands).shape).toEqual(shape);
          const out = poisoned(shape, place);
          expect(expectForm(operation, form, operands, { out })).toBe(out);
        });

        test.each([[[0]], [[3, 0]], [[0, 8]], [[2, 0, 4]]])(
          "an empty input for results of shape %j, and the next call",
          (shape) => {
            const tensors = form.pack(
              Array.from({ length: form.operands }, () => zeros(shape, place)),
            );
            expect(form.call(tensors).shape).toEqual(shape);
            expectForm(operation, form, randomOperands(form, [2, 8], place));
          },
        );

        test("inputs are only read", async () => {
          const tensors = form.pack(randomOperands(form, [4, 96], place));
          const before = await Promise.all(tensors.map(bitsOf));
          form.call(tensors);
          expect(await Promise.all(tensors.map(bitsOf))).toEqual(before);
        });
      });
    });
  });
}
