import type { Tensor } from "@warpwright/runtime";
import { checkOptions } from "@warpwright/runtime/kernel";
import { forward } from "./forward.js";
import { type RopeOptions, type RopeQKOptions, rotationNames } from "./options.js";

export type { RopeLayout, RopeOptions, RopeQKOptions, RotationOptions } from "./options.js";
export type {
  DynamicScaling,
  LinearScaling,
  Llama3Scaling,
  LongropeScaling,
  RopeScaling,
  YarnScaling,
} from "./scaling.js";
export { type RopeTables, type RopeTablesOptions, ropeTables } from "./tables.js";

const ropeNames = [...rotationNames, "out"];
const ropeQKNames = [...rotationNames, "qOut", "kOut"];

/**
 * Rotary position embedding (Su et al., 2021, "RoFormer: Enhanced Transformer with Rotary Position
 * Embedding", arXiv:2104.09864): each pair (a, b) of columns of a token at position p becomes
 * `(a cos - b sin, b cos + a sin)` with the pair's column of row p of the tables. Inference only.
 *
 * Computed in float32 and rounded once. Columns outside the rotary range, and tokens whose position
 * is outside the tables, are passed on bit for bit.
 *
 * @param x [batch, seqlen, heads, head_dim], or as `options.layout` says; float32, float16 or
 *   bfloat16; on the GPU or the CPU
 * @param cos [max_positions, rotary_dim / 2]: float32, which is the accurate choice, float16 or
 *   bfloat16, whatever x is
 * @param sin like cos
 * @returns a new contiguous tensor of x's shape and dtype, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_OVERLAP, ERR_VALUE (also where
 *   offset + seqlen is more than the tables have rows); Error ERR_DEVICE, ERR_DISPOSED,
 *   ERR_UNSUPPORTED (a head dim above 2^24), ERR_LOAD; CudaError
 *
 * @example
 * import { rope, ropeTables } from "@warpwright/rope";
 * import { randn } from "@warpwright/runtime";
 *
 * const { cos, sin } = ropeTables({ dim: 64, maxPositions: 128 });
 * const x = randn([2, 16, 4, 64], { seed: 1 });
 * const rotated = rope(x, cos, sin, { offset: 100 });
 * rope(rotated, cos, sin, { offset: 100, inverse: true, out: rotated }); // x again
 */
export function rope(x: Tensor, cos: Tensor, sin: Tensor, options: RopeOptions = {}): Tensor {
  checkOptions("rope", options, ropeNames);
  const names = { q: "x", qOut: "out" };
  const tensors = { names, q: x, k: undefined, cos, sin, qOut: options.out, kOut: undefined };
  return forward("rope", tensors, options).q;
}

/**
 * rope of q and k in one launch. They may differ in their number of heads, as with grouped-query
 * attention.
 *
 * @param q as x of rope
 * @param k of q's shape but for the heads, q's dtype
 * @param cos [max_positions, rotary_dim / 2], as for rope
 * @param sin like cos
 * @returns the rotated q and k: new contiguous tensors, or `options.qOut` and `options.kOut`
 * @throws as rope
 *
 * @example
 * import { ropeQK, ropeTables } from "@warpwright/rope";
 * import { randn } from "@warpwright/runtime";
 *
 * const { cos, sin } = ropeTables({ dim: 64, maxPositions: 128 });
 * const qkv = randn([2, 16, (8 + 2 + 2) * 64], { seed: 1 });
 * const q = qkv.narrow(-1, 0, 8 * 64).view([2, 16, 8, 64]);
 * const k = qkv.narrow(-1, 8 * 64, 2 * 64).view([2, 16, 2, 64]);
 * ropeQK(q, k, cos, sin, { qOut: q, kOut: k }); // in place, inside qkv
 */
export function ropeQK(
  q: Tensor,
  k: Tensor,
  cos: Tensor,
  sin: Tensor,
  options: RopeQKOptions = {},
): { q: Tensor; k: Tensor } {
  checkOptions("ropeQK", options, ropeQKNames);
  const { qOut, kOut } = options;
  const tensors = { names: { q: "q", qOut: "qOut" }, q, k: { value: k }, cos, sin, qOut, kOut };
  const rotated = forward("ropeQK", tensors, options);
  return { q: rotated.q, k: rotated.k! };
}
