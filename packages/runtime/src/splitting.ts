import { checkInteger, checkSize, fromEnd } from "./arguments.js";
import { describe, isArray, shapeText } from "./describe.js";
import { kindError, shapeError, valueError } from "./errors.js";
import type { Layout } from "./internals.js";
import { narrowLayout } from "./layout.js";

// Each piece is an object with a handle: more would fill JavaScript's memory, which ends a process.
const maxPieces = 2 ** 20;

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
  if (isArray(sizes)) return givenSizes(op, sizes, total);
  if (typeof sizes !== "number") {
    throw kindError(`${op}: expected sizes to be a number or an array, got ${describe(sizes)}`);
  }
  checkSize(op, "sizes to be an integer of at least 1", sizes, 1);
  if (total === 0) return [0];
  const count = Math.ceil(total / sizes);
  checkCount(op, count);
  return Array.from({ length: count }, (_, i) => Math.min(sizes, total - i * sizes));
}

function givenSizes(op: string, sizes: readonly unknown[], total: number): number[] {
  checkCount(op, sizes.length);
  const given: number[] = [];
  let sum = 0;
  for (let i = 0; i < sizes.length; i++) {
    const size = sizes[i];
    checkSize(op, "sizes to hold integers of at least 0", size, 0);
    given.push(size);
    sum += size;
  }
  if (sum === total) return given;
  throw shapeError(`${op}: expected sizes that sum to ${total}, got ${shapeText(given)}`);
}

function checkCount(op: string, count: number): void {
  if (count <= maxPieces) return;
  throw valueError(`${op}: expected at most ${maxPieces} pieces, got ${count}`);
}

/** Each dimension's position once, counted from the end when negative. */
export function permutation(dims: readonly number[], rank: number): number[] {
  for (const dim of dims) checkInteger("permute", "a dimension", dim);
  if (dims.length !== rank) {
    throw shapeError(`permute: expected ${rank} dimensions, got ${shapeText(dims)}`);
  }
  const positions = dims.map((dim) => fromEnd("permute", "a dimension", dim, rank));
  if (new Set(positions).size === rank) return positions;
  throw shapeError(`permute: expected every dimension once, got ${shapeText(dims)}`);
}
