import type { DType } from "../dtypes.js";
import type { Tensor } from "../tensor.js";

/**
 * The tensor itself where neighbours in the last dimension are neighbours in memory, else a
 * contiguous copy, which the caller disposes.
 *
 * @example
 * import { ones } from "@warpwright/runtime";
 * import { denseRows } from "@warpwright/runtime/kernel";
 *
 * const x = ones([3, 2]).transpose();
 * const rows = denseRows(x);
 * if (rows !== x) rows.dispose(); // after the kernel's call
 */
export function denseRows<D extends DType>(tensor: Tensor<D>): Tensor<D> {
  const last = tensor.shape.length - 1;
  if (last < 0 || tensor.shape[last]! <= 1 || tensor.strides[last] === 1) return tensor;
  return tensor.contiguous();
}
