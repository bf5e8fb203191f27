import type { Tensor } from "@warpwright/runtime";
import {
  checkFinite,
  checkFloat32,
  checkOptions,
  type ElementwiseOptions,
  type GatedOptions,
  gatedOptionNames,
  gatedPairOptionNames,
  runGated,
  runGatedPair,
  valueError,
} from "@warpwright/runtime/kernel";
import { native } from "./native.js";

/** What is computed of gate and up. */
interface Scalars {
  /**
   * Clamps before anything else: gate to at most the limit, up to between -limit and limit. Above
   * 0. Default Infinity: none. gpt-oss has 7, DeepSeek-V4 10.
   */
  limit?: number | undefined;
  /** Of `sigmoid(alpha * gate)`, above 0. Default 1: SiLU. gpt-oss has 1.702. */
  alpha?: number | undefined;
  /** Added to up, after the clamp. Default 0. gpt-oss has 1. */
  upOffset?: number | undefined;
}

export interface SwigluOptions extends GatedOptions, Scalars {}
export interface SwigluPairOptions extends ElementwiseOptions, Scalars {}

const scalarNames = ["limit", "alpha", "upOffset"];

/**
 * SwiGLU of gate and up in one tensor: `silu(gate) * up` (Shazeer, 2020, "GLU Variants Improve
 * Transformer"), or with the options `gate * sigmoid(alpha * gate) * (up + upOffset)` of clamped
 * gate and up. In float32, with one rounding at the end. Inference only.
 *
 * @param x (..., 2 * size), float32, float16 or bfloat16; on the GPU or the CPU. By default its
 *   first half is the gate
 * @returns a new contiguous tensor (..., size) of x's dtype, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_LOAD; CudaError
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { swiglu } from "@warpwright/swiglu";
 *
 * const x = tensor([[1, 2, 3, 4]]);
 * console.log(await swiglu(x).data()); // silu(1) * 3, silu(2) * 4
 * const gptOss = { interleaved: true, limit: 7, alpha: 1.702, upOffset: 1 };
 * console.log(await swiglu(x, gptOss).data());
 */
export function swiglu(x: Tensor, options: SwigluOptions = {}): Tensor {
  checkOptions("swiglu", options, [...gatedOptionNames, ...scalarNames]);
  const scalars = scalarsOf("swiglu", options);
  return runGated("swiglu", x, options, (...call) => native().swigluFwd(...call, ...scalars));
}

/**
 * SwiGLU of gate and up in a tensor each; see swiglu.
 *
 * @param gate of any shape, float32, float16 or bfloat16
 * @param up like gate
 * @returns a new contiguous tensor like gate, or `options.out`, which may be gate or up
 * @throws as swiglu
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { swigluPair } from "@warpwright/swiglu";
 *
 * const [gate, up] = [tensor([1, 2]), tensor([3, 4])];
 * console.log(await swigluPair(gate, up, { out: gate, limit: 10 }).data());
 */
export function swigluPair(gate: Tensor, up: Tensor, options: SwigluPairOptions = {}): Tensor {
  checkOptions("swigluPair", options, [...gatedPairOptionNames, ...scalarNames]);
  const scalars = scalarsOf("swigluPair", options);
  return runGatedPair("swigluPair", gate, up, options, (...call) =>
    native().swigluFwd(...call, ...scalars),
  );
}

function scalarsOf(op: string, options: Scalars): [limit: number, alpha: number, up: number] {
  const { limit = Number.POSITIVE_INFINITY, alpha = 1, upOffset = 0 } = options;
  if (limit !== Number.POSITIVE_INFINITY) checkPositive(op, "limit", limit);
  checkPositive(op, "alpha", alpha);
  checkFloat32(op, "upOffset", upOffset);
  return [limit, alpha, upOffset];
}

function checkPositive(op: string, name: string, value: number): void {
  checkFinite(op, name, value, { above: 0 });
  checkFloat32(op, name, value);
  if (Math.fround(value) > 0) return;
  throw valueError(`${op}: expected ${name} to be above 0 in float32, got ${value}`);
}
