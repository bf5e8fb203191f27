import type { CudaStream, Tensor } from "@warpwright/runtime";
import {
  checkFloat32,
  checkOptions,
  checkRowOutputs,
  checkRows,
  dtypeCode,
  handleOf,
  newTensor,
  optionalHandle,
  runRows,
  streamFor,
} from "@warpwright/runtime/kernel";
import { native } from "./native.js";

export interface NewKernelOptions {
  /** Added to the sum of squares before the root, at least 0. Default 1e-6. */
  eps?: number | undefined;
  /**
   * Receives 1 / sqrt(sum(x²) + eps): float32, of x's shape without the last dimension, or [rows].
   */
  inverse?: Tensor | undefined;
  /** Written and returned instead of a new tensor: of x's shape, dtype and device; may be x. */
  out?: Tensor | undefined;
  /** Default: the device's current stream. */
  stream?: CudaStream | undefined;
}

const op = "newKernel";
const optionNames = ["eps", "inverse", "out", "stream"];

/**
 * L2 normalisation over the last dimension: `x / sqrt(sum(x²) + eps)`. In float32, with one
 * rounding at the end. Inference only.
 *
 * @param x (..., hiddenSize), float32, float16 or bfloat16; on the GPU or the CPU
 * @returns a new contiguous tensor of x's shape and dtype, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_UNSUPPORTED (a hidden size above 2^30), ERR_LOAD; CudaError
 *
 * @example
 * import { newKernel } from "@warpwright/new-kernel";
 * import { tensor } from "@warpwright/runtime";
 *
 * console.log(await newKernel(tensor([[3, 4]])).data()); // 0.6, 0.8
 */
export function newKernel(x: Tensor, options: NewKernelOptions = {}): Tensor {
  checkOptions(op, options, optionNames);
  // Read once: what has been checked is what is used, whatever the getters of an object return.
  const { eps = 1e-6, inverse, out: given, stream: chosen } = options;
  checkRows(op, "x", x);
  checkFloat32(op, "eps", eps, 0);
  const stream = streamFor(op, x.device, chosen);
  const read = { inputs: { x }, parameters: {} };
  checkRowOutputs(op, { ...read, outputs: { out: given }, statistics: { inverse } });

  const out = given ?? newTensor(x.shape, x.dtype, x.device, stream, op);
  const call = { ...read, outputs: { out }, statistics: { inverse: inverse ?? null } };
  runRows(call, stream, ({ inputs, outputs, statistics }, geometry) =>
    native().newKernelFwd(
      handleOf(inputs.x),
      handleOf(outputs.out),
      optionalHandle(statistics.inverse),
      stream,
      geometry,
      dtypeCode(x.dtype),
      eps,
    ),
  );
  return out;
}
