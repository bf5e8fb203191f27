import type { Tensor } from "@warpwright/runtime";
import {
  checkOptions,
  type ElementwiseOptions,
  type GatedOptions,
  gatedOptionNames,
  gatedPairOptionNames,
  runGated,
  runGatedPair,
} from "@warpwright/runtime/kernel";
import { native } from "./native.js";

export interface NewKernelOptions extends GatedOptions {}
export interface NewKernelPairOptions extends ElementwiseOptions {}

/**
 * Gated linear unit of gate and up in one tensor: `sigmoid(gate) * up` (Dauphin et al., 2017,
 * "Language Modeling with Gated Convolutional Networks"). In float32, with one rounding at the end.
 * Inference only.
 *
 * @param x (..., 2 * size), float32, float16 or bfloat16; on the GPU or the CPU. By default its
 *   first half is the gate
 * @returns a new contiguous tensor (..., size) of x's dtype, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_LOAD; CudaError
 *
 * @example
 * import { newKernel } from "@warpwright/new-kernel";
 * import { tensor } from "@warpwright/runtime";
 *
 * const x = tensor([[0, 0, 3, 4]]);
 * console.log(await newKernel(x).data()); // 1.5, 2
 * console.log(await newKernel(x, { gate: "last", interleaved: true }).data());
 */
export function newKernel(x: Tensor, options: NewKernelOptions = {}): Tensor {
  checkOptions("newKernel", options, gatedOptionNames);
  return runGated("newKernel", x, options, (...call) => native().newKernelFwd(...call));
}

/**
 * The gated linear unit of gate and up in a tensor each; see newKernel.
 *
 * @param gate of any shape, float32, float16 or bfloat16
 * @param up like gate
 * @returns a new contiguous tensor like gate, or `options.out`, which may be gate or up
 * @throws as newKernel
 *
 * @example
 * import { newKernelPair } from "@warpwright/new-kernel";
 * import { tensor } from "@warpwright/runtime";
 *
 * const [gate, up] = [tensor([0, 1]), tensor([3, 4])];
 * console.log(await newKernelPair(gate, up, { out: gate }).data());
 */
export function newKernelPair(
  gate: Tensor,
  up: Tensor,
  options: NewKernelPairOptions = {},
): Tensor {
  const op = "newKernelPair";
  checkOptions(op, options, gatedPairOptionNames);
  return runGatedPair(op, gate, up, options, (...call) => native().newKernelFwd(...call));
}
