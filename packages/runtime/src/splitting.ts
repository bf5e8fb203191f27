import { checkInteger, checkSize, fromEnd } from "./arguments.js";
import { describe, shapeText } from "./describe.js";
import { kindError, shapeError } from "./errors.js";
import type { Layout } from "./internals.js";
import { narrowLayout } from "./layout.js";

/** Pieces of a dimension: of `sizes` entries each but the last, or of exactly these sizes. */
export function splitLayouts(
  op: string,
  layout: Layout,
  sizes: number | readonly number[],
  dim: number,
): Layout[] {
  const total = layout.shape[dim]!;
  let start = 0;
  return pieceSizes(op, sizes, total).map((length) => {
    const piece = narrowLayout(layout, dim, start, length);
    start += length;
    return piece;
  });
}

function pieceSizes(op: string, sizes: number | readonly number[], total: number): number[] {
  if (Array.isArray(sizes)) {
    let sum = 0;
    for (const size of sizes) {
      checkSize(op, "sizes to hold integers of at least 0", size, 0);
      sum += size;
    }
    if (sum === total) return [...sizes];
    throw shapeError(`${op}: expected sizes that sum to ${total}, got ${shapeText(sizes)}`);
  }
  if (typeof sizes !== "number") {
    throw kindError(`${op}: expected sizes to be a number or an array, got ${describe(sizes)}`);
  }
  checkSize(op, "sizes to be an integer of at least 1", sizes, 1);
  if (total === 0) return [0];
  const count = Math.ceil(total / sizes);
  return Array.from({ length: count }, (_, i) => Math.min(sizes, total - i * sizes));
}

/** Each dimension's position once, counted from the end when negative. */
export function permutation(dims: readonly number[], rank: number): number[] {
  const order = dims.map((dim) => {
    checkInteger("permute", "a dimension", dim);
    return dim;
  });
  if (order.length !== rank) {
    throw shapeError(`permute: expected ${rank} dimensions, got ${shapeText(dims)}`);
  }
  const positions = order.map((dim) => fromEnd("permute", "a dimension", dim, rank));
  if (new Set(positions).size === rank) return positions;
  throw shapeError(`permute: expected every dimension once, got ${shapeText(dims)}`);
}
