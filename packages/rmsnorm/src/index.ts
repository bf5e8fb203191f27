import type { Tensor } from "@warpwright/runtime";
import { type AddRmsnormOptions, forward, type RmsnormOptions } from "./forward.js";

export type { AddRmsnormOptions, Casting, RmsnormOptions } from "./forward.js";
export { RMSNorm, type RMSNormOptions } from "./module.js";

/**
 * RMSNorm over the last dimension: `x / sqrt(mean(x²) + eps) * (weight + weightOffset)`
 * (Zhang and Sennrich, 2019, "Root Mean Square Layer Normalization"). Inference only.
 *
 * A row is computed in float32, and does not depend on the others. Squares may exceed float32:
 * rows up to the largest float are normalised.
 *
 * @param x (..., hiddenSize), float32, float16 or bfloat16; on the GPU or the CPU
 * @param weight (hiddenSize), x's dtype or float32; null or left out for none
 * @returns a new contiguous tensor of x's shape and dtype, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_UNSUPPORTED (a hidden size above 2^30), ERR_LOAD; CudaError
 *
 * @example
 * import { rmsnorm } from "@warpwright/rmsnorm";
 * import { tensor } from "@warpwright/runtime";
 *
 * const x = tensor([[1, 2, 3, 4]]);
 * const weight = tensor([1, 1, 2, 2]);
 * console.log(await rmsnorm(x, weight).data());
 */
export function rmsnorm(x: Tensor, weight?: Tensor | null, options: RmsnormOptions = {}): Tensor {
  return forward("rmsnorm", x, undefined, weight, options).out;
}

/**
 * RMSNorm of a sum, which is returned too: the step between two layers of a transformer. The sum
 * `x + residual` is formed in float32 and rounded once to x's dtype; the norm is that of the
 * rounded sum.
 *
 * @param x (..., hiddenSize), float32, float16 or bfloat16
 * @param residual like x
 * @param weight (hiddenSize), x's dtype or float32; null or left out for none
 * @returns `out`, the norm, and `residual`, the rounded sum: new contiguous tensors, or
 *   `options.out` and `options.residualOut`
 * @throws as rmsnorm
 *
 * @example
 * import { addRmsnorm } from "@warpwright/rmsnorm";
 * import { tensor } from "@warpwright/runtime";
 *
 * const hidden = tensor([[1, 2, 3, 4]]);
 * const update = tensor([[4, 3, 2, 1]]);
 * const { out, residual } = addRmsnorm(update, hidden, null, { residualOut: hidden });
 * console.log(await out.data(), await residual.data());
 */
export function addRmsnorm(
  x: Tensor,
  residual: Tensor,
  weight?: Tensor | null,
  options: AddRmsnormOptions = {},
): { out: Tensor; residual: Tensor } {
  const { out, residualOut } = forward("addRmsnorm", x, { value: residual }, weight, options);
  return { out, residual: residualOut! };
}
