import { describe, expect, test } from "vitest";

import { testDevices } from "../src/cuda.js";
import { valuesOf } from "../src/float64.js";
import { seedGrid } from "../src/grid.js";

const grid = seedGrid();
const named = (name: string) => grid.find((gridCase) => gridCase.name === name)!;

describe("seedGrid", () => {
  test("is 8 hidden sizes x 3 batches x 3 lengths and five more", () => {
    expect(grid.length).toBe(8 * 3 * 3 + 5);
    expect(new Set(grid.map(({ name }) => name)).size).toBe(grid.length);
    expect(grid[0]).toMatchObject({ name: "1x1x64", shape: [1, 1, 64] });
    expect(grid[71]).toMatchObject({ name: "16x128x8192", shape: [16, 128, 8192] });
    expect(grid.slice(72).map(({ name }) => name)).toEqual([
      "single row",
      "zeros",
      "non-contiguous",
      "large hidden size",
      "wrong dtype",
    ]);
  });

  describe.each(testDevices())("on %s", (device) => {
    test.each(grid.filter(({ shape }) => shape[0] * shape[1] <= 128))("$name", (gridCase) => {
      const x = gridCase.input({ dtype: "bfloat16", device });
      expect([x.shape, x.device]).toEqual([gridCase.shape, device]);
      expect(x.dtype).toBe(gridCase.throws === undefined ? "bfloat16" : "int32");
      x.dispose();
    });
  });

  test("values are normal, and the seed's", () => {
    const { input } = named("1x32x2048");
    const values = valuesOf(input());
    const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
    const variance = values.reduce((sum, x) => sum + x * x, 0) / values.length;
    // 65,536 values: four standard errors are 0.016 and 0.022.
    expect(Math.abs(mean)).toBeLessThan(0.016);
    expect(Math.abs(variance - 1)).toBeLessThan(0.022);
    expect(valuesOf(input())).toEqual(values);
    expect(valuesOf(input({ seed: 43 }))).not.toEqual(values);
  });

  test("zeros are zero", () => {
    expect(valuesOf(named("zeros").input()).every((x) => x === 0)).toBe(true);
  });

  test("the non-contiguous input has a dense dimension that is not the last", () => {
    expect(named("non-contiguous").input().strides).toEqual([2048 * 64, 1, 64]);
  });

  test("the wrong dtype is int32 whatever is asked for", () => {
    const { input, throws } = named("wrong dtype");
    expect([input({ dtype: "float16" }).dtype, throws]).toEqual(["int32", "ERR_DTYPE"]);
  });
});
