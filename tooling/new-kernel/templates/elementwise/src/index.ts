import type { Tensor } from "@warpwright/runtime";
import {
  checkFinite,
  checkFloat32,
  checkOptions,
  type ElementwiseOptions,
  elementwiseOptionNames,
  runElementwise,
  valueError,
} from "@warpwright/runtime/kernel";
import { native } from "./native.js";

export interface NewKernelOptions extends ElementwiseOptions {
  /** Of `sigmoid(beta * x)`, above 0. Default 1: SiLU. */
  beta?: number | undefined;
}

const op = "newKernel";
const optionNames = ["beta", ...elementwiseOptionNames];

/**
 * Swish: `x * sigmoid(beta * x)` (Ramachandran, Zoph and Le, 2017, "Searching for Activation
 * Functions"). In float32, with one rounding at the end. Inference only.
 *
 * @param x of any shape, float32, float16 or bfloat16; on the GPU or the CPU
 * @returns a new contiguous tensor of x's shape and dtype, or `options.out`, which may be x
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_LOAD; CudaError
 *
 * @example
 * import { newKernel } from "@warpwright/new-kernel";
 * import { tensor } from "@warpwright/runtime";
 *
 * console.log(await newKernel(tensor([-1, 0, 2]), { beta: 1.5 }).data());
 */
export function newKernel(x: Tensor, options: NewKernelOptions = {}): Tensor {
  checkOptions(op, options, optionNames);
  // Read once: what has been checked is what is used, whatever the getters of an object return.
  const { beta = 1 } = options;
  checkFinite(op, "beta", beta, { above: 0 });
  checkFloat32(op, "beta", beta);
  if (Math.fround(beta) === 0) {
    throw valueError(`${op}: expected beta to be above 0 in float32, got ${beta}`);
  }
  return runElementwise(op, x, options, (...call) => native().newKernelFwd(...call, beta));
}
