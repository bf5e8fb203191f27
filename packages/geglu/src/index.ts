import type { Tensor } from "@warpwright/runtime";
import {
  checkOneOf,
  checkOptions,
  type ElementwiseOptions,
  type GatedOptions,
  gatedOptionNames,
  gatedPairOptionNames,
  runGated,
  runGatedPair,
} from "@warpwright/runtime/kernel";
import { native } from "./native.js";

/** Which form of GELU. */
export type Approximate = "none" | "tanh" | "quick";

interface Activation {
  /**
   * "none" (default): by erf. "tanh": PyTorch's approximation, elsewhere named gelu_new, gelu_fast
   * and gelu_pytorch_tanh, which Gemma has. "quick": `x * sigmoid(1.702 * x)`.
   */
  approximate?: Approximate | undefined;
}

export interface GegluOptions extends GatedOptions, Activation {}
export interface GegluPairOptions extends ElementwiseOptions, Activation {}

const kinds: readonly Approximate[] = ["none", "tanh", "quick"];

/**
 * GEGLU of gate and up in one tensor: `gelu(gate) * up` (Shazeer, 2020, "GLU Variants Improve
 * Transformer"). In float32, with one rounding at the end. Inference only.
 *
 * By default the first half is the gate. In PyTorch's `F.glu` and in diffusers' GEGLU it is the
 * last: `{ gate: "last" }`.
 *
 * @param x (..., 2 * size), float32, float16 or bfloat16; on the GPU or the CPU
 * @returns a new contiguous tensor (..., size) of x's dtype, or `options.out`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_LOAD; CudaError
 *
 * @example
 * import { geglu } from "@warpwright/geglu";
 * import { tensor } from "@warpwright/runtime";
 *
 * const x = tensor([[1, 2, 3, 4]]);
 * console.log(await geglu(x, { approximate: "tanh" }).data()); // gelu(1) * 3, gelu(2) * 4
 * console.log(await geglu(x, { gate: "last" }).data()); // gelu(3) * 1, gelu(4) * 2
 */
export function geglu(x: Tensor, options: GegluOptions = {}): Tensor {
  checkOptions("geglu", options, ["approximate", ...gatedOptionNames]);
  const kind = kindOf("geglu", options);
  return runGated("geglu", x, options, (...call) => native().gegluFwd(...call, kind));
}

/**
 * GEGLU of gate and up in a tensor each; see geglu.
 *
 * @param gate of any shape, float32, float16 or bfloat16
 * @param up like gate
 * @returns a new contiguous tensor like gate, or `options.out`, which may be gate or up
 * @throws as geglu
 *
 * @example
 * import { gegluPair } from "@warpwright/geglu";
 * import { tensor } from "@warpwright/runtime";
 *
 * const [gate, up] = [tensor([1, 2]), tensor([3, 4])];
 * console.log(await gegluPair(gate, up, { out: gate }).data());
 */
export function gegluPair(gate: Tensor, up: Tensor, options: GegluPairOptions = {}): Tensor {
  checkOptions("gegluPair", options, ["approximate", ...gatedPairOptionNames]);
  const kind = kindOf("gegluPair", options);
  return runGatedPair("gegluPair", gate, up, options, (...call) =>
    native().gegluFwd(...call, kind),
  );
}

function kindOf(op: string, { approximate = "none" }: Activation): number {
  checkOneOf(op, "approximate", approximate, kinds);
  return kinds.indexOf(approximate);
}
