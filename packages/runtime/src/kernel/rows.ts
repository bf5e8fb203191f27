// Row-wise calls: how the rows of their tensors are packed for the binding (headers: geometry.h,
// rows.h), and what happens to tensors whose rows cannot be.
import { copyBlock, live } from "../blocks.js";
import { isDense } from "../layout.js";
import type { StreamHandle } from "../native.js";
import { scratchOf } from "../scratch.js";
import type { Tensor } from "../tensor.js";
import { newTensor } from "./memory.js";

/** A tensor argument, or null for one that is left out. */
export type Operand = Tensor | null;

/** Where a tensor's elements are, or a part of them; see packRows. */
export type RowView = Pick<Tensor, "shape" | "strides" | "offset">;

// Dimensions of the row grid that launchers take.
const gridRank = 3;

/**
 * Packs the geometry of a row-wise call: the row size; the three sizes of the row grid; offset and
 * three strides of each row tensor; offset of each dense tensor; in elements, zeros for null. All
 * row tensors have one shape, whose last dimension is the row; the first is never null. The array
 * is only good until the next call.
 *
 * @returns null where a last dimension is not dense, or the others do not collapse to three
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { packRows } from "@warpwright/runtime/kernel";
 *
 * packRows([ones([2, 3, 4])], [ones([4])]); // [4, 1, 1, 6, 0, 24, 24, 4, 0]
 */
export function packRows(
  rows: readonly [RowView, ...(RowView | null)[]],
  dense: readonly Operand[],
): Float64Array | null {
  const { shape } = rows[0];
  const last = shape.length - 1;
  const rowSize = shape[last]!;
  for (const tensor of rows) {
    if (tensor !== null && tensor.strides[last] !== 1 && rowSize > 1) return null;
  }
  const first = 1 + gridRank;
  const geometry = scratchOf(first + rows.length * (1 + gridRank) + dense.length);
  geometry.fill(0);
  geometry[0] = rowSize;
  geometry.fill(1, 1, first);
  if (!packGrid(rows, geometry, first)) return null;
  rows.forEach((tensor, i) => {
    geometry[first + i * (1 + gridRank)] = tensor?.offset ?? 0;
  });
  const afterRows = first + rows.length * (1 + gridRank);
  dense.forEach((tensor, i) => {
    geometry[afterRows + i] = tensor?.offset ?? 0;
  });
  return geometry;
}

// Fills grid sizes and strides from the innermost dimension on, merging each dimension into the
// last wherever every tensor steps through both as one.
function packGrid(
  rows: readonly (RowView | null)[],
  geometry: Float64Array,
  first: number,
): boolean {
  const { shape } = rows[0]!;
  let at = gridRank; // where the grid's dimension `at - 1` is being filled; none yet
  for (let dim = shape.length - 2; dim >= 0; dim--) {
    const size = shape[dim]!;
    if (size === 1) continue;
    if (at < gridRank && mergesAll(rows, geometry, first, at, dim)) {
      geometry[1 + at]! *= size;
      continue;
    }
    if (at === 0) return false;
    at--;
    geometry[1 + at] = size;
    rows.forEach((tensor, i) => {
      geometry[first + i * (1 + gridRank) + 1 + at] = tensor?.strides[dim] ?? 0;
    });
  }
  // A single dimension of rows ends up innermost, which is what launchers are quick with.
  return true;
}

function mergesAll(
  rows: readonly (RowView | null)[],
  geometry: Float64Array,
  first: number,
  at: number,
  dim: number,
): boolean {
  const count = geometry[1 + at]!;
  return rows.every((tensor, i) => {
    const stride = geometry[first + i * (1 + gridRank) + 1 + at]!;
    return tensor === null || tensor.strides[dim] === stride * count;
  });
}

/**
 * Calls `launch` with dense copies in place of the tensors that are not dense, and copies the
 * outputs' contents back: the slow path for rows that packRows refuses.
 *
 * @param stream of the call, on which the copies are made; null on the CPU
 *
 * @example
 * import { ones, zeros } from "@warpwright/runtime";
 * import { throughDenseRows } from "@warpwright/runtime/kernel";
 *
 * const [x, out] = [ones([3, 2]).transpose(0, 1), zeros([3, 2]).transpose(0, 1)];
 * throughDenseRows([x], [out], null, ([denseX], [denseOut]) => denseOut!.copyFrom(denseX!));
 */
export function throughDenseRows(
  inputs: readonly Operand[],
  outputs: readonly Operand[],
  stream: StreamHandle | null,
  launch: (inputs: readonly Operand[], outputs: readonly Operand[]) => void,
): void {
  const temporary: Tensor[] = [];
  const dense = (tensor: Operand, filled: boolean): Operand => {
    if (tensor === null || isDense(tensor)) return tensor;
    const copy = newTensor(tensor.shape, tensor.dtype, tensor.device, stream);
    temporary.push(copy);
    if (filled) copyOn(stream, copy, tensor);
    return copy;
  };
  try {
    const denseInputs = inputs.map((tensor) => dense(tensor, true));
    const denseOutputs = outputs.map((tensor) => dense(tensor, false));
    launch(denseInputs, denseOutputs);
    outputs.forEach((tensor, i) => {
      if (tensor !== null && tensor !== denseOutputs[i]) copyOn(stream, tensor, denseOutputs[i]!);
    });
  } finally {
    for (const tensor of temporary) tensor.dispose();
  }
}

// Elements of one shape on one device.
function copyOn(stream: StreamHandle | null, dst: Tensor, src: Tensor): void {
  copyBlock(live("copy", dst), live("copy", src), stream);
}
