import type { Tensor } from "@warpwright/runtime";
import { type AttentionOptions, forward } from "./forward.js";

/**
 * Attention: `softmax(q kᵀ * softmaxScale + mask) v` for each head, in one pass and without a
 * matrix of scores in memory (Dao et al., 2022, "FlashAttention"). Inference only.
 *
 * - Query i stands at the position of key `i + seqlen of k - seqlen of q`: the last query at the
 *   last key. `causal` and the windows count from there, and a window includes that key.
 * - Fewer heads of k and v than of q (GQA, MQA) are shared: head h of q reads head
 *   `floor(h / (heads of q / heads of k))`.
 * - The order is scale, cap, mask, softmax. A key that a query does not see, by causal, window or
 *   mask, has no influence on it, not even as NaN. A query that sees none gives 0, and lse
 *   -Infinity.
 *
 * @param q [batch, seqlen, heads, head_dim], float32, float16 or bfloat16; head_dim 1 to 256; on
 *   the GPU or the CPU
 * @param k [batch, seqlen of k, heads of k, head_dim], like q
 * @param v [batch, seqlen of k, heads of k, head_dim of v], like q
 * @returns [batch, seqlen, heads, head_dim of v]: a new contiguous tensor, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_UNSUPPORTED (a head_dim above 256), ERR_LOAD; CudaError
 *
 * @example
 * import { attention } from "@warpwright/attention";
 * import { randn } from "@warpwright/runtime";
 *
 * const q = randn([1, 16, 8, 64], { seed: 1 });
 * const [k, v] = [2, 3].map((seed) => randn([1, 16, 2, 64], { seed }));
 * const out = attention(q, k!, v!, { causal: true });
 * console.log(out.shape);
 */
export function attention(q: Tensor, k: Tensor, v: Tensor, options: AttentionOptions = {}): Tensor {
  return forward("attention", q, k, v, options, false).out;
}

/**
 * attention that also returns the logarithm of the softmax's denominator, by which partial results
 * over different keys are merged, see mergeAttention. Ask for `outDtype: "float32"` to keep them
 * exact until then.
 *
 * @param q as attention
 * @param k as attention
 * @param v as attention
 * @returns `out`, as attention, and `lse`, float32 [batch, heads, seqlen]: new contiguous tensors,
 *   or `options.out` and `options.lse`
 * @throws as attention
 *
 * @example
 * import { attentionWithLse } from "@warpwright/attention";
 * import { randn } from "@warpwright/runtime";
 *
 * const [q, k, v] = [1, 2, 3].map((seed) => randn([1, 16, 2, 64], { seed }));
 * const { out, lse } = attentionWithLse(q!, k!, v!);
 * console.log(out.shape, lse.shape);
 */
export function attentionWithLse(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options: AttentionOptions = {},
): { out: Tensor; lse: Tensor } {
  const { out, lse } = forward("attentionWithLse", q, k, v, options, true);
  return { out, lse: lse! };
}
