import type { FloatDType } from "../float64.js";

/**
 * Lengths of a row, in vectors of 16 bytes, at which every instance of a row-wise kernel runs once
 * or more: within, at and beyond the limits of the headers' `row_thread.cuh`, in clusters of
 * blocks, and too long for those.
 */
export const rowLengths: readonly number[] = [
  ...[5, 32, 64, 96, 128, 256, 512, 1024, 2048, 4096, 8192],
  ...[9000, 32_768, 33_000],
];

/** One of them for each way in which a row is shared out. */
export const rowMappings = [
  ["a few lanes", 30],
  ["a warp", 60],
  ["a block", 1000],
  ["a cluster", 9000],
  ["a block that reads it again", 33_000],
] as const;

/**
 * Elements in a vector of 16 bytes.
 *
 * @example
 * import { rowLengths, vectorSize } from "@warpwright/testing/vitest";
 *
 * const hiddenSizes = rowLengths.map((count) => count * vectorSize("bfloat16"));
 */
export function vectorSize(dtype: FloatDType): number {
  return dtype === "float32" ? 4 : 8;
}
