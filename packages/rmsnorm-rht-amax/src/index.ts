import type { Tensor } from "@warpwright/runtime";
import { checkOptions, newTensor, streamFor } from "@warpwright/runtime/kernel";
import {
  type CallOptions,
  checkInputs,
  checkOutputs,
  numRowsOf,
  run,
  type Scalars,
} from "./forward.js";
import { type RmsnormRhtAmaxResult, resultOf } from "./result.js";

export type { NanPolicy } from "./forward.js";
export {
  RmsnormRhtAmax,
  type RmsnormRhtAmaxExecution,
  type RmsnormRhtAmaxSamples,
} from "./module.js";
export type { RmsnormRhtAmaxResult } from "./result.js";
export { bestNumThreads, pickRowsPerCta } from "./rules.js";

export interface RmsnormRhtAmaxOptions extends Scalars, CallOptions {
  /** Written instead of a new tensor: float32, of shape [rows / rowsPerCta]. */
  amax?: Tensor | undefined;
  /** Written instead of a new tensor: of x's shape, dtype and device; may be x. */
  out?: Tensor | undefined;
}

const op = "rmsnormRhtAmax";
const optionNames = ["eps", "numThreads", "rowsPerCta", "signs", "nan", "amax", "out", "stream"];

/**
 * RMSNorm, a Hadamard transform of each 16 consecutive columns, and the largest magnitudes, in one
 * pass: what comes before a quantisation to 4 bits. With `y = x / sqrt(mean(x²) + eps) * weight`,
 * `out` is `y @ H16 / 4` on each 16 columns of a row, in Sylvester's order, and `amax[g]` is the
 * largest |out| of the g-th `rowsPerCta` rows. In float32 throughout; `out` is rounded once, and
 * `amax` is that of the values before. Inference only.
 *
 * @param x (..., hiddenSize), float32, float16 or bfloat16; hiddenSize a multiple of 16; on the
 *   GPU or the CPU
 * @param weight (hiddenSize), x's dtype or float32
 * @returns `{ out, amax }`, which may also be taken apart as `[out, amax]`: new contiguous tensors
 *   of x's shape and dtype and of shape [rows / rowsPerCta] and float32, or those of the options
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_UNSUPPORTED (a hidden size above 2^30), ERR_LOAD; CudaError
 *
 * @example
 * import { rmsnormRhtAmax } from "@warpwright/rmsnorm-rht-amax";
 * import { ones } from "@warpwright/runtime";
 *
 * const { out, amax } = rmsnormRhtAmax(ones([4, 32]), ones([32]), { rowsPerCta: 2 });
 * console.log(out.shape, await amax.data()); // two of them, 4 each
 */
export function rmsnormRhtAmax(
  x: Tensor,
  weight: Tensor,
  options: RmsnormRhtAmaxOptions = {},
): RmsnormRhtAmaxResult {
  checkOptions(op, options, optionNames);
  // Read once: what has been checked is what is used, whatever the getters of an object return.
  const { eps, numThreads, rowsPerCta, signs, nan, out, amax, stream: chosen } = options;
  const settings = checkInputs(op, x, weight, { eps, numThreads, rowsPerCta, signs, nan });
  const stream = streamFor(op, x.device, chosen);
  checkOutputs(op, { x, weight, out, amax }, settings);

  const groups = numRowsOf(x) / settings.rowsPerCta;
  const written = {
    out: out ?? newTensor(x.shape, x.dtype, x.device, stream, op),
    amax: amax ?? newTensor([groups], "float32", x.device, stream, op),
  };
  run({ x, weight, ...written }, settings, stream);
  return resultOf(written.out, written.amax);
}
