// The options of rope and ropeQK, and what they are once checked.
import type { CudaStream, Tensor } from "@warpwright/runtime";
import { checkBoolean, checkFinite, checkOneOf, valueError } from "@warpwright/runtime/kernel";

/** The order of dimensions: batch, seqlen, heads, head_dim; or tokens of all sequences in one. */
export type RopeLayout = "bshd" | "bhsd" | "thd";

export interface RotationOptions {
  /**
   * "bshd" (default): [batch, seqlen, heads, head_dim]; "bhsd": [batch, heads, seqlen, head_dim];
   * "thd": [tokens, heads, head_dim].
   */
  layout?: RopeLayout | undefined;
  /**
   * Which columns of the rotary range make a pair: i and i + rotaryDim / 2 (false, the default:
   * GPT-NeoX, Llama, Qwen), or 2i and 2i + 1 (true: GPT-J, GLM, the paper).
   */
  interleaved?: boolean | undefined;
  /**
   * Columns that are rotated, an even number; pairs are formed within them. Fewer than the tables
   * are wide take the tables' first rotaryDim / 2 columns. Default: twice the tables' width.
   */
  rotaryDim?: number | undefined;
  /** The first of those columns. Default 0. */
  rotaryOffset?: number | undefined;
  /**
   * Added to every position. Default 0. Without positions and cuSeqlens a token's position is its
   * place in the sequence, and offset the first one's, such as the length of a cache.
   */
  offset?: number | undefined;
  /**
   * Each token's position, int32 or int64: [batch, seqlen] or [seqlen], [tokens] for "thd". Where
   * position + offset is no row of the tables, the token is not rotated.
   */
  positions?: Tensor | undefined;
  /**
   * For "thd": where each sequence starts and, last, where the last one ends; int32 or int64,
   * [sequences + 1]. Positions restart in each. Tokens behind the end are not rotated, nor are
   * those whose position + offset is no row of the tables.
   */
  cuSeqlens?: Tensor | undefined;
  /** Rotates back, by the negative angle. Default false. */
  inverse?: boolean | undefined;
  /** Default: the device's current stream. */
  stream?: CudaStream | undefined;
}

export interface RopeOptions extends RotationOptions {
  /** Written and returned instead of a new tensor: of x's shape, dtype and device; may be x. */
  out?: Tensor | undefined;
}

export interface RopeQKOptions extends RotationOptions {
  /** Receives the rotated q: as `out` of rope; may be q. */
  qOut?: Tensor | undefined;
  /** Receives the rotated k; may be k. */
  kOut?: Tensor | undefined;
}

export const rotationNames = [
  "layout",
  "interleaved",
  "rotaryDim",
  "rotaryOffset",
  "offset",
  "positions",
  "cuSeqlens",
  "inverse",
  "stream",
];

const layouts: readonly RopeLayout[] = ["bshd", "bhsd", "thd"];

/** Options that are no tensors, checked one by one. */
export interface Scalars {
  layout: RopeLayout;
  interleaved: boolean;
  rotaryDim: number | undefined;
  rotaryOffset: number;
  offset: number;
  inverse: boolean;
}

export function checkScalars(op: string, scalars: Scalars): void {
  const { layout, interleaved, rotaryDim, rotaryOffset, offset, inverse } = scalars;
  checkOneOf(op, "layout", layout, layouts);
  checkBoolean(op, "interleaved", interleaved);
  checkBoolean(op, "inverse", inverse);
  if (rotaryDim !== undefined) {
    checkFinite(op, "rotaryDim", rotaryDim, { min: 0, integer: true });
    if (rotaryDim % 2 !== 0) {
      throw valueError(`${op}: expected rotaryDim to be even, got ${rotaryDim}`);
    }
  }
  checkFinite(op, "rotaryOffset", rotaryOffset, { min: 0, integer: true });
  checkFinite(op, "offset", offset, { integer: true });
}
