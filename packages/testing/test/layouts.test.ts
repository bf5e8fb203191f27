import { arange, randn } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";

import { testDevices } from "../src/cuda.js";
import {
  expanded,
  fusedSlice,
  inputLayouts,
  misaligned,
  stridedRows,
  transposedLast,
} from "../src/layouts.js";

describe.each(testDevices())("layouts on %s", (device) => {
  const matrix = () => arange(0, 6, 1, { device }).view([2, 3]);

  test.each(inputLayouts)("$name keeps values, shape, dtype and device", ({ make }) => {
    for (const dtype of ["float32", "bfloat16", "int64"] as const) {
      const x = arange(0, 30, 1, { dtype, device }).view([2, 5, 3]);
      const laidOut = make(x);
      expect([laidOut.shape, laidOut.dtype, laidOut.device]).toEqual([[2, 5, 3], dtype, x.device]);
      expect([...laidOut.dataSync()]).toEqual([...x.dataSync()]);
      expect(laidOut.pointer).not.toBe(x.pointer);
      expect(x.disposed).toBe(false);
    }
  });

  test("misaligned starts at an odd element", () => {
    const x = randn([4, 96], { dtype: "float16", seed: 1, device });
    expect(misaligned(x).pointer % 16n).toBe(2n);
    expect(misaligned(x, 7).pointer % 16n).toBe(14n);
    expect(misaligned(x, 3).isContiguous()).toBe(true);
  });

  test("stridedRows has a pitch", () => {
    expect(stridedRows(matrix(), 4).strides).toEqual([7, 1]);
    expect(stridedRows(randn([2, 5, 3], { seed: 1, device }), 1).strides).toEqual([20, 4, 1]);
  });

  test("transposedLast has a last stride other than 1", () => {
    expect(transposedLast(matrix()).strides).toEqual([1, 2]);
  });

  test("fusedSlice is one of the parts", () => {
    expect(fusedSlice(matrix()).strides).toEqual([9, 1]);
    expect(fusedSlice(matrix(), 2, 0).strides).toEqual([6, 1]);
    expect([0, 1, 2].map((part) => fusedSlice(matrix(), 3, part).offset)).toEqual([0, 3, 6]);
  });

  test("expanded repeats without memory", async () => {
    const x = expanded(arange(0, 3, 1, { device }), 4);
    expect([x.shape, x.strides]).toEqual([
      [4, 3],
      [0, 1],
    ]);
    expect(await x.tolist()).toEqual([
      [0, 1, 2],
      [0, 1, 2],
      [0, 1, 2],
      [0, 1, 2],
    ]);
  });

  test.each([
    [
      "misaligned",
      () => misaligned(matrix(), -1),
      "elements to be an integer of at least 0, got -1",
    ],
    [
      "stridedRows",
      () => stridedRows(matrix(), 0.5),
      "gap to be an integer of at least 0, got 0.5",
    ],
    ["fusedSlice", () => fusedSlice(matrix(), 0), "parts to be an integer of at least 1, got 0"],
    ["fusedSlice's part", () => fusedSlice(matrix(), 3, 3), "part below 3, got 3"],
    ["expanded", () => expanded(matrix(), NaN), "count to be an integer of at least 0, got NaN"],
  ])("%s refuses a bad number", (_, make, message) => {
    const error = {
      name: "RangeError",
      code: "ERR_VALUE",
      message: `testing: expected ${message}`,
    };
    expect(make).toThrow(expect.objectContaining(error));
  });

  test("a scalar has no rows", () => {
    const scalar = arange(0, 1, 1, { device }).view([]);
    for (const make of [stridedRows, transposedLast, fusedSlice]) {
      expect(() => make(scalar)).toThrow(expect.objectContaining({ code: "ERR_SHAPE" }));
    }
  });
});
