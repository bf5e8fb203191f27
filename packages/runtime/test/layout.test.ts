import { describe, expect, test } from "vitest";
import type { Layout } from "../src/internals.js";
import {
  broadcasts,
  denseLayout,
  denseStrides,
  elementCount,
  expandLayout,
  isDense,
  narrowLayout,
  offsetOf,
  permuteLayout,
  reach,
  viewLayout,
} from "../src/layout.js";

/** Storage offsets of all elements in row-major order: what a layout is, said slowly. */
function offsets(layout: Layout): number[] {
  return Array.from({ length: elementCount(layout.shape) }, (_, i) => offsetOf(layout, i));
}

const transposed = permuteLayout(denseLayout([2, 3]), [1, 0]);

describe("layout", () => {
  test.each([
    [[], []],
    [[3], [1]],
    [
      [2, 3, 4],
      [12, 4, 1],
    ],
    [
      [2, 0, 4],
      [4, 4, 1],
    ],
    [
      [1, 1],
      [1, 1],
    ],
  ])("dense strides of %j are %j", (shape, strides) => {
    expect(denseStrides(shape)).toEqual(strides);
    expect(Object.isFrozen(denseStrides(shape))).toBe(true);
  });

  test.each([
    ["a dense tensor", denseLayout([2, 3]), true],
    ["a scalar", denseLayout([]), true],
    ["a transposed one", transposed, false],
    ["an empty transposed one", permuteLayout(denseLayout([0, 3]), [1, 0]), true],
    ["any stride at size 1", { shape: [1, 3], strides: [77, 1], offset: 0 }, true],
    ["a column", narrowLayout(denseLayout([2, 3]), 1, 0, 1), false],
    ["a repeated row", expandLayout(denseLayout([3]), [2, 3]), false],
  ])("whether %s is dense", (_, layout, dense) => {
    expect(isDense(layout)).toBe(dense);
  });

  test("reach is where the last element ends", () => {
    expect(reach(denseLayout([2, 3]))).toBe(6);
    expect(reach(transposed)).toBe(6);
    expect(reach(narrowLayout(denseLayout([2, 3]), 1, 0, 1))).toBe(4);
    expect(reach(denseLayout([2, 0]))).toBe(0);
    expect(reach(denseLayout([]))).toBe(1);
  });

  test.each([
    [[2], [2], true],
    [[], [2, 3], true],
    [[1, 3], [2, 3], true],
    [[2, 1], [2, 3], true],
    [[1], [0], true],
    [[2], [3], false],
    [[2, 3], [3], false],
    [[0], [1], false],
  ])("whether %j broadcasts to %j", (from, to, fits) => {
    expect(broadcasts(from, to)).toBe(fits);
  });
});

describe("viewLayout", () => {
  const sliced = narrowLayout(denseLayout([4, 6]), 1, 2, 3);
  test.each<[string, Layout, number[]]>([
    ["a dense one split", denseLayout([12]), [2, 3, 2]],
    ["a dense one merged", denseLayout([2, 3, 2]), [12]],
    ["a dense one regrouped", denseLayout([4, 6]), [3, 8]],
    ["sizes of 1 added", denseLayout([4, 6]), [1, 4, 1, 6, 1]],
    ["rows with gaps, rows split", sliced, [2, 2, 3]],
    ["rows with gaps, columns split", sliced, [4, 3, 1]],
    ["a transposed one, inner split", transposed, [3, 2, 1]],
    ["a repeated row, repeats split", expandLayout(denseLayout([3]), [4, 3]), [2, 2, 3]],
    ["a scalar", denseLayout([]), [1, 1]],
    ["to a scalar", denseLayout([1, 1]), []],
    ["sizes of 1 with odd strides", { shape: [2, 1, 3], strides: [3, 99, 1], offset: 5 }, [6]],
  ])("%s", (_, layout, shape) => {
    const view = viewLayout(layout, shape);
    expect(view?.shape).toEqual(shape);
    expect(offsets(view!)).toEqual(offsets(layout));
  });

  test.each<[string, Layout, number[]]>([
    ["a transposed one merged", transposed, [6]],
    ["rows with gaps merged", sliced, [12]],
    ["rows with gaps regrouped", sliced, [2, 6]],
    ["a repeated row merged", expandLayout(denseLayout([3]), [4, 3]), [12]],
  ])("%s has none", (_, layout, shape) => {
    expect(viewLayout(layout, shape)).toBeNull();
  });

  test("is the slow definition on every regrouping of 24 elements", () => {
    const shapes = groupings(24);
    const sources = [
      denseLayout([2, 3, 4]),
      permuteLayout(denseLayout([2, 3, 4]), [1, 0, 2]),
      permuteLayout(denseLayout([2, 3, 4]), [2, 1, 0]),
      narrowLayout(denseLayout([2, 3, 8]), 2, 4, 4),
      narrowLayout(denseLayout([2, 6, 4]), 1, 3, 3),
      expandLayout(denseLayout([3, 4]), [2, 3, 4]),
    ];
    for (const source of sources) {
      for (const shape of shapes) {
        const view = viewLayout(source, shape);
        const possible = strided(offsets(source), shape);
        expect({ shape, found: view !== null }).toEqual({ shape, found: possible });
        if (view !== null) expect(offsets(view)).toEqual(offsets(source));
      }
    }
  });
});

/** All shapes without sizes of 1 that have `count` elements. */
function groupings(count: number): number[][] {
  const shapes: number[][] = count === 1 ? [[]] : [];
  for (let size = 2; size <= count; size++) {
    if (count % size === 0)
      for (const rest of groupings(count / size)) shapes.push([size, ...rest]);
  }
  return shapes;
}

/** Whether some strides give these offsets in this shape. */
function strided(wanted: number[], shape: number[]): boolean {
  const dense = denseStrides(shape);
  const strides = shape.map((_, dim) => wanted[dense[dim]!]! - wanted[0]!);
  const layout = { shape, strides, offset: wanted[0]! };
  return offsets(layout).every((offset, i) => offset === wanted[i]);
}
