import type { Tensor } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { testDevices } from "../src/cuda.js";
import { type RowBench, rowCase } from "../src/row-bench.js";

/** Two inputs, swapped into two outputs. */
const swap: RowBench = {
  ...{ name: "swap", inputs: [1, 1], parameters: 1, outputs: 2 },
  run({ inputs: [a, b], outputs: [first, second] }) {
    first!.copyFrom(b!);
    second!.copyFrom(a!);
  },
  expected: ([a, b]) => [b!, a!],
};

/** One input of twice the width, whose second half is taken. */
const secondHalf: RowBench = {
  ...{ name: "secondHalf", inputs: [2] },
  run: ({ inputs: [x], outputs: [out] }) => void out!.copyFrom(x!.narrow(1, 512, 512)),
  expected: ([x]) => [x!.subarray(512)],
};

describe.each(testDevices())("rowCase on %s", (device) => {
  test("counts inputs and outputs by rows, and parameters once", () => {
    expect(rowCase(swap, [16, 10], "bfloat16").bytes).toBe((4 * 16 + 1) * 10 * 2);
    expect(rowCase(swap, [16, 10], "float32").bytes).toBe((4 * 16 + 1) * 10 * 4);
  });

  test("has inputs as wide as they say, and one output and no parameters by default", async () => {
    const made = rowCase(secondHalf, [3, 512], "bfloat16");
    expect(made.bytes).toBe(3 * 3 * 512 * 2);
    const buffers = made.setup(0, device);
    const shapes = Object.values(buffers).map((all: Tensor[]) => all.map(({ shape }) => shape));
    expect(shapes).toEqual([[[3, 1024]], [], [[3, 512]]]);
    made.run(buffers);
    await made.verify(buffers);
    made.dispose(buffers);
  });

  test("makes other tensors for each set and each input, and verifies what ran", async () => {
    const made = rowCase(swap, [2049, 512], "float16");
    const sets = [0, 1].map((index) => made.setup(index, device));
    const inputs = sets.flatMap((set) =>
      set.inputs.map((x) => String(x.narrow(0, 0, 1).dataSync())),
    );
    expect(new Set(inputs).size).toBe(4);
    made.run(sets[0]!);
    await made.verify(sets[0]!);
    for (const set of sets) made.dispose(set);
    expect(sets[0]!.outputs[1]!.disposed).toBe(true);
  });

  test.each([0, 1024, 2048])("sees one wrong element in row %i", async (row) => {
    const made = rowCase(swap, [2049, 512], "float32");
    const buffers = made.setup(0, device);
    made.run(buffers);
    buffers.outputs[1]!.select(0, row).narrow(0, 511, 1).fill(3);
    await expect(async () => made.verify(buffers)).rejects.toThrow("swap's output 1: 1 of 512");
    made.dispose(buffers);
  });
});
