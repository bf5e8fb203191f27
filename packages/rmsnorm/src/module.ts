import type { Device, DType, Tensor } from "@warpwright/runtime";
import {
  checkBoolean,
  checkFinite,
  checkHiddenSize,
  checkOptions,
  newFilled,
  parseFloatDType,
  valueError,
} from "@warpwright/runtime/kernel";
import { type Casting, checkScalars, defaultEps, forward, type RmsnormOptions } from "./forward.js";

export interface RMSNormOptions {
  /** Added to the mean square before the root, at least 0. Default 1e-6. */
  eps?: number | undefined;
  /** Whether there is a weight. Default true. */
  elementwiseAffine?: boolean | undefined;
  /** Added to the weight: 1 for Gemma's `1 + w`, whose weight starts at 0. Default 0. */
  weightOffset?: number | undefined;
  /** As in RmsnormOptions. Default "float32". */
  casting?: Casting | undefined;
  /** Of the weight: float32, float16 or bfloat16. Default "float32". */
  dtype?: DType | undefined;
  /** Of the weight. Default "cpu". */
  device?: Device | undefined;
}

const optionNames = [
  "eps",
  "elementwiseAffine",
  "weightOffset",
  "casting",
  "dtype",
  "device",
] as const;
const forwardOptionNames = ["rstd", "out", "stream"];

/**
 * RMSNorm with its weight and options, named as PyTorch's module. The weight starts as the
 * identity: ones, less the weightOffset. Assign to it, or copy into it, to load another.
 *
 * @example
 * import { RMSNorm } from "@warpwright/rmsnorm";
 * import { randn } from "@warpwright/runtime";
 *
 * const norm = new RMSNorm(64, { eps: 1e-5 });
 * const y = norm.forward(randn([2, 64], { seed: 1 }));
 * console.log(`${norm}`, y.shape);
 */
export class RMSNorm {
  readonly hiddenSize: number;
  readonly eps: number;
  readonly weightOffset: number;
  readonly casting: Casting;
  /** (hiddenSize), or null without elementwiseAffine. */
  weight: Tensor | null;

  /**
   * @throws TypeError ERR_KIND; RangeError ERR_VALUE; Error ERR_DEVICE
   */
  constructor(hiddenSize: number, options: RMSNormOptions = {}) {
    const op = "RMSNorm";
    checkFinite(op, "hiddenSize", hiddenSize, { min: 1, integer: true });
    checkOptions(op, options, optionNames);
    const { eps = defaultEps, elementwiseAffine = true, weightOffset = 0 } = options;
    const { casting = "float32", dtype = "float32", device = "cpu" } = options;
    checkScalars(op, { eps, weightOffset, casting });
    checkBoolean(op, "elementwiseAffine", elementwiseAffine);
    const weightDType = parseFloatDType(op, dtype);
    if (weightOffset !== 0 && !elementwiseAffine) {
      throw valueError(
        `${op}: expected elementwiseAffine beside a weightOffset of ${weightOffset}`,
      );
    }
    this.hiddenSize = hiddenSize;
    this.eps = eps;
    this.weightOffset = weightOffset;
    this.casting = casting;
    this.weight = elementwiseAffine
      ? newFilled(op, [hiddenSize], 1 - weightOffset, weightDType, device)
      : null;
  }

  /**
   * The norm of x's last dimension, see rmsnorm.
   *
   * @param x (..., hiddenSize)
   * @throws as rmsnorm
   */
  forward(x: Tensor, options: Pick<RmsnormOptions, "rstd" | "out" | "stream"> = {}): Tensor {
    checkOptions("RMSNorm.forward", options, forwardOptionNames);
    const { eps, weightOffset, casting } = this;
    checkHiddenSize("RMSNorm.forward", "x", x, this.hiddenSize);
    const all = { ...options, eps, weightOffset, casting };
    return forward("RMSNorm.forward", x, undefined, this.weight, all).out;
  }

  toString(): string {
    const parts = [`${this.hiddenSize}`, `eps=${this.eps}`];
    if (this.weight === null) parts.push("elementwiseAffine=false");
    if (this.weightOffset !== 0) parts.push(`weightOffset=${this.weightOffset}`);
    if (this.casting !== "float32") parts.push(`casting=${this.casting}`);
    return `RMSNorm(${parts.join(", ")})`;
  }
}
