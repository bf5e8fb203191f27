// What attention checks before anything runs: tensors against one another, and options.
import type { Tensor } from "@warpwright/runtime";
import {
  checkBoolean,
  checkDevice,
  checkDtype,
  checkFinite,
  checkFloat,
  checkFloat32,
  checkOneOf,
  checkOverlap,
  checkShape,
  checkTensor,
  checkWritable,
  type FloatDType,
  type Operand,
  shapeError,
  unsupportedError,
  valueError,
} from "@warpwright/runtime/kernel";
import { type Layout, layouts, type Sizes, shapeIn, sizesOf } from "./geometry.js";

const maxHeadDim = 256;
// Positions are counted in an int on the native side, and tiles run over the end.
const maxSeqlen = 2 ** 31 - 1024;
const floats: readonly FloatDType[] = ["float32", "float16", "bfloat16"];

export function checkLayout(op: string, layout: unknown): asserts layout is Layout {
  checkOneOf(op, "layout", layout, layouts);
}

/** A tensor of four dimensions. */
export function checkRank4(op: string, name: string, tensor: Tensor): void {
  if (tensor.shape.length === 4) return;
  throw shapeError(
    `${op}: expected ${name} to have 4 dimensions, got shape [${tensor.shape.join(", ")}]`,
  );
}

function checkHeadDim(op: string, name: string, tensor: Tensor): void {
  const headDim = tensor.shape[3]!;
  if (headDim >= 1 && headDim <= maxHeadDim) return;
  throw unsupportedError(
    `${op}: expected ${name} with a head dim of 1 to ${maxHeadDim}, got ${headDim}`,
  );
}

function checkSeqlen(op: string, name: string, seqlen: number): void {
  if (seqlen <= maxSeqlen) return;
  throw unsupportedError(
    `${op}: expected ${name} with a seqlen of at most ${maxSeqlen}, got ${seqlen}`,
  );
}

/** q, k and v: q decides dtype, device, batch and head dim, k the keys that v has values for. */
export function checkQkv(op: string, q: Tensor, k: Tensor, v: Tensor, layout: Layout): void {
  checkTensor(op, "q", q);
  checkFloat(op, "q", q);
  checkRank4(op, "q", q);
  for (const [name, tensor] of [
    ["k", k],
    ["v", v],
  ] as const) {
    checkTensor(op, name, tensor);
    checkDtype(op, name, tensor, q.dtype);
    checkRank4(op, name, tensor);
    checkDevice(op, name, tensor, q.device);
  }
  const [batch, heads, seqlen] = sizesOf(q, layout);
  const [, headsKv, seqlenK] = sizesOf(k, layout);
  checkShape(op, "k", k, shapeIn(layout, [batch, headsKv, seqlenK], q.shape[3]!));
  checkShape(op, "v", v, shapeIn(layout, [batch, headsKv, seqlenK], v.shape[3]!));
  checkHeadDim(op, "q", q);
  checkHeadDim(op, "v", v);
  checkSeqlen(op, "q", seqlen);
  checkSeqlen(op, "k", seqlenK);
  if (headsKv === heads || (headsKv > 0 && heads % headsKv === 0)) return;
  throw shapeError(
    `${op}: expected the heads of q to be a multiple of those of k, got ${heads} and ${headsKv}`,
  );
}

/** A mask that broadcasts to [batch, heads of q, seqlen of q, seqlen of k]. */
export function checkMask(
  op: string,
  mask: Tensor,
  [batch, heads, seqlen]: Sizes,
  seqlenK: number,
): void {
  checkTensor(op, "mask", mask);
  checkDtype(op, "mask", mask, ["bool", ...floats]);
  const wanted = [batch, heads, seqlen, seqlenK];
  const { shape } = mask;
  const missing = wanted.length - shape.length;
  if (missing >= 0 && shape.every((size, i) => size === 1 || size === wanted[missing + i])) return;
  throw shapeError(
    `${op}: expected mask to broadcast to [${wanted.join(", ")}], got shape [${shape.join(", ")}]`,
  );
}

export function checkSinks(op: string, sinks: Tensor, heads: number): void {
  checkTensor(op, "sinks", sinks);
  checkDtype(op, "sinks", sinks, "float32");
  checkShape(op, "sinks", sinks, [heads]);
}

/** An output of the caller's: its shape, dtype and device, and memory that no input has. */
export function checkOutput(
  op: string,
  name: string,
  output: Tensor,
  like: { shape: readonly number[]; dtype: FloatDType; device: string },
): void {
  checkTensor(op, name, output);
  checkDtype(op, name, output, like.dtype);
  checkShape(op, name, output, like.shape);
  checkDevice(op, name, output, like.device);
  checkWritable(op, name, output);
}

export function checkApart(
  op: string,
  name: string,
  output: Tensor,
  others: Readonly<Record<string, Operand | undefined>>,
): void {
  for (const other in others) {
    const tensor = others[other];
    if (tensor) checkOverlap(op, name, output, other, tensor, { exact: false });
  }
}

/** The options that are numbers or words. */
export interface Scalars {
  causal: boolean;
  softmaxScale: number;
  windowLeft: number;
  windowRight: number;
  softcap: number;
}

export function checkScalars(op: string, scalars: Scalars): void {
  const { causal, softmaxScale, windowLeft, windowRight, softcap } = scalars;
  checkBoolean(op, "causal", causal);
  checkFinite(op, "softmaxScale", softmaxScale, { above: 0 });
  checkFloat32(op, "softmaxScale", softmaxScale);
  if (Math.fround(softmaxScale) === 0) {
    throw valueError(`${op}: expected softmaxScale to be above 0 in float32, got ${softmaxScale}`);
  }
  checkFinite(op, "windowLeft", windowLeft, { min: -1, integer: true });
  checkFinite(op, "windowRight", windowRight, { min: -1, integer: true });
  checkFloat32(op, "softcap", softcap, 0);
  // What float32 makes 0 of would switch the cap off.
  if (softcap > 0 && Math.fround(softcap) === 0) {
    throw valueError(`${op}: expected softcap to be 0, or above 0 in float32, got ${softcap}`);
  }
}

export function checkOutDtype(op: string, dtype: unknown): asserts dtype is FloatDType {
  checkOneOf(op, "outDtype", dtype, floats);
}
