import { type Device, empty, randn, type Tensor } from "@warpwright/runtime";

import type { FloatDType } from "./float64.js";

/**
 * Rows of normal values for a benchmark, the same million elements over and over: random numbers by
 * the gigabyte take longer than the measurement, and the memory does not know.
 *
 * @param shape [rows, elements of a row]
 * @example
 * import { repeatedRows } from "@warpwright/testing";
 *
 * const x = repeatedRows([32, 4096], { seed: 1, dtype: "bfloat16", device: "cpu" });
 */
export function repeatedRows(
  shape: readonly [number, number],
  { seed, dtype, device }: { seed: number; dtype: FloatDType; device: Device },
): Tensor {
  const [rows, size] = shape;
  const distinct = Math.min(rows, Math.max(1, Math.floor(2 ** 20 / size)));
  const source = randn([distinct, size], { seed, dtype, device });
  const x = empty(shape, { dtype, device });
  for (let row = 0; row < rows; row += distinct) {
    const count = Math.min(distinct, rows - row);
    x.narrow(0, row, count).copyFrom(source.narrow(0, 0, count));
  }
  source.dispose();
  return x;
}
