// How a call's sizes, offsets and strides are packed for the binding.
import type { Tensor } from "@warpwright/runtime";
import type { Call, Numbers } from "./forward.js";

// Native code reads it before the call returns.
const geometry = new Float64Array(39);

/**
 * Head dim, rotary dim, rotary offset; batch size, seqlen, heads, then offset and strides along
 * those of q, and the same of qOut; all that for k; rows of the tables, then offset and three
 * strides of cos, and of sin; the number of sequences, then offset and three strides of the index.
 * In elements; zeros for what is left out. Good until the next call.
 */
export function packGeometry(call: Call, numbers: Numbers): Float64Array {
  const { headDim, rotaryDim, rotaryOffset, maxPositions, kind } = numbers;
  const { q, k, qOut, kOut, cos, sin, index } = call;
  geometry.fill(0);
  geometry[0] = headDim;
  geometry[1] = rotaryDim;
  geometry[2] = rotaryOffset;
  packHeads(3, q, qOut, numbers);
  if (k !== null) packHeads(14, k, kOut!, numbers);
  // Rows of no columns are no memory that strides could lead through.
  geometry[25] = rotaryDim === 0 ? 0 : maxPositions;
  packTable(26, cos);
  packTable(30, sin);
  if (index !== null) packIndex(34, index, kind);
  return geometry;
}

function packHeads(at: number, x: Tensor, out: Tensor, numbers: Numbers): void {
  const { batchSize, seqlen, dims } = numbers;
  geometry[at] = batchSize;
  geometry[at + 1] = seqlen;
  geometry[at + 2] = x.shape[dims.heads]!;
  packRows(at + 3, x, numbers);
  packRows(at + 7, out, numbers);
}

function packRows(at: number, { offset, strides }: Tensor, { dims }: Numbers): void {
  geometry[at] = offset;
  geometry[at + 1] = dims.batch < 0 ? 0 : strides[dims.batch]!;
  geometry[at + 2] = strides[dims.seqlen]!;
  geometry[at + 3] = strides[dims.heads]!;
}

function packTable(at: number, table: Tensor): void {
  geometry[at] = table.offset;
  geometry[at + 3] = table.strides[0]!;
}

/** positions have a stride for the batch, if they have that dimension, and one for the sequence. */
function packIndex(at: number, { offset, shape, strides }: Tensor, kind: number): void {
  geometry[at] = kind === 2 ? shape[0]! - 1 : 0;
  geometry[at + 1] = offset;
  geometry[at + 3] = shape.length === 2 ? strides[0]! : 0;
  geometry[at + 4] = strides.at(-1)!;
}
