import type { Tensor } from "@warpwright/runtime";
import { type AddLayernormOptions, forward, type LayernormOptions } from "./forward.js";

export type { AddLayernormOptions, LayernormOptions } from "./forward.js";
export { LayerNorm, type LayerNormOptions } from "./module.js";

/**
 * LayerNorm over the last dimension: `(x - mean(x)) / sqrt(var(x) + eps) * weight + bias` (Ba,
 * Kiros and Hinton, 2016, "Layer Normalization"), with the variance of the row itself, divided by
 * its length. Inference only.
 *
 * A row is computed in float32, and does not depend on the others. The variance is that of the
 * deviations from the mean, which is itself corrected by theirs: a mean far larger than the spread
 * costs no accuracy.
 *
 * @param x (..., hiddenSize), float32, float16 or bfloat16; on the GPU or the CPU
 * @param weight (hiddenSize), x's dtype or float32; null or left out for none
 * @param bias (hiddenSize), x's dtype or float32, whichever the weight's is; null or left out for
 *   none
 * @returns a new contiguous tensor of x's shape and dtype, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_UNSUPPORTED (a hidden size above 2^30), ERR_LOAD; CudaError
 *
 * @example
 * import { layernorm } from "@warpwright/layernorm";
 * import { tensor } from "@warpwright/runtime";
 *
 * const x = tensor([[1, 2, 3, 4]]);
 * const weight = tensor([1, 1, 2, 2]);
 * const bias = tensor([0, 0, 0, 1]);
 * console.log(await layernorm(x, weight, bias).data());
 */
export function layernorm(
  x: Tensor,
  weight?: Tensor | null,
  bias?: Tensor | null,
  options: LayernormOptions = {},
): Tensor {
  return forward("layernorm", x, undefined, { weight, bias }, options).out;
}

/**
 * LayerNorm of a sum, which is returned too: the step between two layers of a transformer. The sum
 * `x + residual` is formed in float32 and rounded once to x's dtype; the norm is that of the
 * rounded sum.
 *
 * @param x (..., hiddenSize), float32, float16 or bfloat16
 * @param residual like x
 * @param weight (hiddenSize), x's dtype or float32; null or left out for none
 * @param bias like `weight`
 * @returns `out`, the norm, and `residual`, the rounded sum: new contiguous tensors, or
 *   `options.out` and `options.residualOut`
 * @throws as layernorm
 *
 * @example
 * import { addLayernorm } from "@warpwright/layernorm";
 * import { tensor } from "@warpwright/runtime";
 *
 * const hidden = tensor([[1, 2, 3, 4]]);
 * const update = tensor([[4, 4, 2, 1]]);
 * const { out, residual } = addLayernorm(update, hidden, null, null, { residualOut: hidden });
 * console.log(await out.data(), await residual.data());
 */
export function addLayernorm(
  x: Tensor,
  residual: Tensor,
  weight?: Tensor | null,
  bias?: Tensor | null,
  options: AddLayernormOptions = {},
): { out: Tensor; residual: Tensor } {
  const sum = { value: residual };
  const { out, residualOut } = forward("addLayernorm", x, sum, { weight, bias }, options);
  return { out, residual: residualOut! };
}
