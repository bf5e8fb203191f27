// What a call's tensors have to be: q decides for k and the outputs, the tables for the columns.
import type { Tensor } from "@warpwright/runtime";
import {
  checkDevice,
  checkDtype,
  checkFloat,
  checkLike,
  checkOverlap,
  checkTensor,
  checkWritable,
  shapeError,
  unsupportedError,
  valueError,
} from "@warpwright/runtime/kernel";
import type { RopeLayout, Scalars } from "./options.js";

/** A call's tensors, and how messages name those that rope and ropeQK name differently. */
export interface Tensors {
  names: { q: string; qOut: string };
  q: Tensor;
  /** Undefined for rope; checked, whatever its value is, for ropeQK. */
  k: { value: Tensor } | undefined;
  cos: Tensor;
  sin: Tensor;
  positions: Tensor | undefined;
  cuSeqlens: Tensor | undefined;
  qOut: Tensor | undefined;
  kOut: Tensor | undefined;
}

/** Where a layout has its dimensions; a batch of -1 is one of a single sequence. */
export interface Dims {
  words: readonly string[];
  batch: number;
  seqlen: number;
  heads: number;
}

const dimsOf: Readonly<Record<RopeLayout, Dims>> = {
  bshd: { words: ["batch", "seqlen", "heads", "head_dim"], batch: 0, seqlen: 1, heads: 2 },
  bhsd: { words: ["batch", "heads", "seqlen", "head_dim"], batch: 0, seqlen: 2, heads: 1 },
  thd: { words: ["tokens", "heads", "head_dim"], batch: -1, seqlen: 0, heads: 1 },
};

/** Sizes of a checked call. */
export interface Sizes {
  dims: Dims;
  batchSize: number;
  seqlen: number;
  headDim: number;
  rotaryDim: number;
  maxPositions: number;
}

// Where a grid's limits are, see rope.h.
export const maxHeadDim = 2 ** 24;

/**
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_UNSUPPORTED
 */
export function checkTensors(op: string, tensors: Tensors, scalars: Scalars): Sizes {
  const { names, q, cos, sin } = tensors;
  const dims = dimsOf[scalars.layout];
  checkHeads(op, names.q, q, dims);
  if (tensors.k !== undefined) checkKey(op, tensors.k.value, q, dims);
  checkTables(op, cos, sin, q);
  const sizes: Sizes = {
    dims,
    batchSize: dims.batch < 0 ? 1 : q.shape[dims.batch]!,
    seqlen: q.shape[dims.seqlen]!,
    headDim: q.shape.at(-1)!,
    rotaryDim: scalars.rotaryDim ?? 2 * cos.shape[1]!,
    maxPositions: cos.shape[0]!,
  };
  checkRange(op, scalars, sizes, cos);
  checkPositions(op, tensors, scalars, sizes);
  checkOutputs(op, tensors);
  return sizes;
}

function checkHeads(op: string, name: string, x: Tensor, { words }: Dims): void {
  checkTensor(op, name, x);
  checkFloat(op, name, x);
  if (x.shape.length !== words.length) throw rankError(op, name, x, words);
  if (x.shape.at(-1)! > maxHeadDim) {
    throw unsupportedError(
      `${op}: expected a head dim of at most ${maxHeadDim}, got ${x.shape.at(-1)}`,
    );
  }
}

function rankError(op: string, name: string, x: Tensor, words: readonly string[]): RangeError {
  const count = words.length === 1 ? "1 dimension" : `${words.length} dimensions`;
  return shapeError(
    `${op}: expected ${name} of ${count}, [${words.join(", ")}], got shape [${x.shape.join(", ")}]`,
  );
}

function checkKey(op: string, k: Tensor, q: Tensor, dims: Dims): void {
  checkTensor(op, "k", k);
  checkDtype(op, "k", k, q.dtype);
  const fits =
    k.shape.length === q.shape.length &&
    k.shape.every((size, dim) => dim === dims.heads || size === q.shape[dim]);
  if (!fits) {
    const wanted = q.shape.map((size, dim) => (dim === dims.heads ? "heads" : size)).join(", ");
    throw shapeError(`${op}: expected k of shape [${wanted}], got [${k.shape.join(", ")}]`);
  }
  checkDevice(op, "k", k, q.device);
}

function checkTables(op: string, cos: Tensor, sin: Tensor, q: Tensor): void {
  checkTensor(op, "cos", cos);
  checkFloat(op, "cos", cos);
  if (cos.shape.length !== 2) {
    throw rankError(op, "cos", cos, ["max_positions", "rotary_dim / 2"]);
  }
  checkDevice(op, "cos", cos, q.device);
  checkLike(op, "sin", sin, cos);
}

function checkRange(op: string, scalars: Scalars, sizes: Sizes, cos: Tensor): void {
  const { rotaryOffset } = scalars;
  const { rotaryDim, headDim } = sizes;
  const width = cos.shape[1]!;
  if (rotaryDim > 2 * width) {
    throw valueError(
      `${op}: expected rotaryDim of at most ${2 * width}, twice the width of cos, got ${rotaryDim}`,
    );
  }
  if (rotaryOffset + rotaryDim <= headDim) return;
  const sum = rotaryOffset === 0 ? `${rotaryDim}` : `${rotaryOffset} + ${rotaryDim}`;
  const what = rotaryOffset === 0 ? "rotaryDim" : "rotaryOffset + rotaryDim";
  throw valueError(`${op}: expected ${what} of at most ${headDim}, the head dim, got ${sum}`);
}

function checkPositions(op: string, tensors: Tensors, scalars: Scalars, sizes: Sizes): void {
  const { q, positions, cuSeqlens } = tensors;
  const { seqlen, batchSize, maxPositions, dims } = sizes;
  if (positions !== undefined && cuSeqlens !== undefined) {
    throw valueError(`${op}: expected positions or cuSeqlens, got both`);
  }
  if (positions !== undefined) {
    checkIndex(op, "positions", positions, q);
    const { shape } = positions;
    const flat = shape.length === 1 && shape[0] === seqlen;
    const full = shape.length === 2 && shape[0] === batchSize && shape[1] === seqlen;
    if (flat || (full && dims.batch >= 0)) return;
    const wanted = dims.batch < 0 ? `[${seqlen}]` : `[${batchSize}, ${seqlen}] or [${seqlen}]`;
    throw shapeError(`${op}: expected positions of shape ${wanted}, got [${shape.join(", ")}]`);
  }
  if (cuSeqlens !== undefined) {
    if (scalars.layout !== "thd") {
      throw valueError(`${op}: expected layout "thd" beside cuSeqlens, got "${scalars.layout}"`);
    }
    checkIndex(op, "cuSeqlens", cuSeqlens, q);
    if (cuSeqlens.shape.length === 1 && cuSeqlens.size > 0) return;
    throw rankError(op, "cuSeqlens", cuSeqlens, ["sequences + 1"]);
  }
  const { offset } = scalars;
  if (offset < 0) throw valueError(`${op}: expected offset to be at least 0, got ${offset}`);
  if (offset + seqlen <= maxPositions) return;
  throw valueError(
    `${op}: expected offset + seqlen of at most ${maxPositions}, the rows of cos, ` +
      `got ${offset} + ${seqlen}`,
  );
}

function checkIndex(op: string, name: string, index: Tensor, q: Tensor): void {
  checkTensor(op, name, index);
  checkDtype(op, name, index, ["int32", "int64"]);
  checkDevice(op, name, index, q.device);
}

function checkOutputs(op: string, tensors: Tensors): void {
  const { names, q, cos, sin, positions, cuSeqlens, qOut, kOut } = tensors;
  const k = tensors.k?.value;
  const outputs = [
    { name: names.qOut, out: qOut, like: q },
    { name: "kOut", out: kOut, like: k },
  ];
  const read = Object.entries({ [names.q]: q, k, cos, sin, positions, cuSeqlens });
  for (const { name, out, like } of outputs) {
    if (out === undefined || like === undefined) continue;
    checkLike(op, name, out, like);
    checkWritable(op, name, out);
    for (const [inName, input] of read) {
      // A pair is read before it is written, so an output may be what it is the rotation of.
      if (input) checkOverlap(op, name, out, inName, input, { exact: input === like });
    }
  }
  if (qOut && kOut) checkOverlap(op, names.qOut, qOut, "kOut", kOut, { exact: false });
}
