import type { Tensor } from "@warpwright/runtime";
import {
  checkOneOf,
  checkOptions,
  type ElementwiseOptions,
  elementwiseOptionNames,
  runElementwise,
} from "@warpwright/runtime/kernel";
import { native } from "./native.js";

/** Which form of GELU. */
export type Approximate = "none" | "tanh" | "quick";

export interface GeluOptions extends ElementwiseOptions {
  /**
   * "none" (default): `x * Φ(x)`, by erf. "tanh": PyTorch's approximation, elsewhere named
   * gelu_new, gelu_fast and gelu_pytorch_tanh. "quick": `x * sigmoid(1.702 * x)`, as in CLIP.
   */
  approximate?: Approximate | undefined;
}

const kinds: readonly Approximate[] = ["none", "tanh", "quick"];
const optionNames = ["approximate", ...elementwiseOptionNames];

/**
 * GELU: x times the share of the normal distribution below x (Hendrycks and Gimpel, 2016, "Gaussian
 * Error Linear Units"), or an approximation. In float32, with one rounding at the end, and accurate
 * in the tail, where 1 + erf cancels. Inference only.
 *
 * @param x of any shape, float32, float16 or bfloat16; on the GPU or the CPU
 * @returns a new contiguous tensor of x's shape and dtype, or `options.out`, which may be x
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_LOAD; CudaError
 *
 * @example
 * import { gelu } from "@warpwright/gelu";
 * import { tensor } from "@warpwright/runtime";
 *
 * const x = tensor([-2, -1, 0, 1, 2]);
 * console.log(await gelu(x).data(), await gelu(x, { approximate: "tanh", out: x }).data());
 */
export function gelu(x: Tensor, options: GeluOptions = {}): Tensor {
  checkOptions("gelu", options, optionNames);
  const { approximate = "none" } = options;
  checkOneOf("gelu", "approximate", approximate, kinds);
  const kind = kinds.indexOf(approximate);
  return runElementwise("gelu", x, options, (...call) => native().geluFwd(...call, kind));
}
