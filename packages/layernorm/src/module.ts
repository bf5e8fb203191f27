import type { Device, DType, Tensor } from "@warpwright/runtime";
import {
  checkBoolean,
  checkFinite,
  checkFloat32,
  checkHiddenSize,
  checkOptions,
  newFilled,
  parseFloatDType,
} from "@warpwright/runtime/kernel";
import { defaultEps, forward, type LayernormOptions } from "./forward.js";

export interface LayerNormOptions {
  /** Added to the variance before the root, at least 0. Default 1e-5. */
  eps?: number | undefined;
  /** Whether there is a weight, and with `bias` a bias. Default true. */
  elementwiseAffine?: boolean | undefined;
  /** Whether there is a bias beside the weight. Default true. */
  bias?: boolean | undefined;
  /** Of weight and bias: float32, float16 or bfloat16. Default "float32". */
  dtype?: DType | undefined;
  /** Of weight and bias. Default "cpu". */
  device?: Device | undefined;
}

const optionNames = ["eps", "elementwiseAffine", "bias", "dtype", "device"] as const;
const forwardOptionNames = ["mean", "rstd", "out", "stream"];

/**
 * LayerNorm with its weight, bias and options, named as PyTorch's module. The weight starts as
 * ones, the bias as zeros. Assign to them, or copy into them, to load others.
 *
 * @example
 * import { LayerNorm } from "@warpwright/layernorm";
 * import { randn } from "@warpwright/runtime";
 *
 * const norm = new LayerNorm(64, { eps: 1e-6 });
 * const y = norm.forward(randn([2, 64], { seed: 1 }));
 * console.log(`${norm}`, y.shape);
 */
export class LayerNorm {
  readonly hiddenSize: number;
  readonly eps: number;
  /** (hiddenSize), or null without elementwiseAffine. */
  weight: Tensor | null;
  /** (hiddenSize), or null without elementwiseAffine or bias. */
  bias: Tensor | null;

  /**
   * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_VALUE; Error ERR_DEVICE
   */
  constructor(hiddenSize: number, options: LayerNormOptions = {}) {
    const op = "LayerNorm";
    checkFinite(op, "hiddenSize", hiddenSize, { min: 1, integer: true });
    checkOptions(op, options, optionNames);
    const { eps = defaultEps, elementwiseAffine = true, bias = true } = options;
    const { dtype = "float32", device = "cpu" } = options;
    checkFloat32(op, "eps", eps, 0);
    checkBoolean(op, "elementwiseAffine", elementwiseAffine);
    checkBoolean(op, "bias", bias);
    const ownDType = parseFloatDType(op, dtype);
    const filled = (value: number): Tensor => newFilled(op, [hiddenSize], value, ownDType, device);
    this.hiddenSize = hiddenSize;
    this.eps = eps;
    this.weight = elementwiseAffine ? filled(1) : null;
    this.bias = elementwiseAffine && bias ? filled(0) : null;
  }

  /**
   * The norm of x's last dimension, see layernorm.
   *
   * @param x (..., hiddenSize)
   * @throws as layernorm
   */
  forward(
    x: Tensor,
    options: Pick<LayernormOptions, "mean" | "rstd" | "out" | "stream"> = {},
  ): Tensor {
    const op = "LayerNorm.forward";
    checkOptions(op, options, forwardOptionNames);
    checkHiddenSize(op, "x", x, this.hiddenSize);
    return forward(op, x, undefined, this, { ...options, eps: this.eps }).out;
  }

  toString(): string {
    const parts = [`${this.hiddenSize}`, `eps=${this.eps}`];
    if (this.weight === null) parts.push("elementwiseAffine=false");
    else if (this.bias === null) parts.push("bias=false");
    return `LayerNorm(${parts.join(", ")})`;
  }
}
