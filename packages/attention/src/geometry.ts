// How tensors are described to the binding (csrc/binding.cc), and what happens to those whose last
// dimension is not dense.
import type { Tensor } from "@warpwright/runtime";
import { type Operand, type StreamHandle, throughDenseRows } from "@warpwright/runtime/kernel";

/**
 * Order of the dimensions of q, k, v and out: "bshd" is [batch, seqlen, heads, head_dim], "bhsd"
 * [batch, heads, seqlen, head_dim].
 */
export type Layout = "bshd" | "bhsd";

export const layouts: readonly Layout[] = ["bshd", "bhsd"];

/** Where batch, heads and seqlen are among the dimensions. */
const axes = { bshd: [0, 2, 1], bhsd: [0, 1, 2] } as const;

/** The first three dimensions of an lse. */
const lseAxes = [0, 1, 2] as const;

/** Batch, heads and seqlen. */
export type Sizes = readonly [batch: number, heads: number, seqlen: number];

export function sizesOf({ shape }: Tensor, layout: Layout): Sizes {
  const [batch, heads, seqlen] = axes[layout];
  return [shape[batch]!, shape[heads]!, shape[seqlen]!];
}

/** The shape in the layout of a tensor with these sizes. */
export function shapeIn(
  layout: Layout,
  [batch, heads, seqlen]: Sizes,
  headDim: number,
): readonly [number, number, number, number] {
  return layout === "bshd" ? [batch, seqlen, heads, headDim] : [batch, heads, seqlen, headDim];
}

/** The tensors of one call, null for what is left out. */
export interface Tensors {
  q: Tensor;
  k: Tensor;
  v: Tensor;
  out: Tensor;
  lse: Operand;
  mask: Operand;
  sinks: Operand;
}

// Native code has read them when the call returns; the first read of a new array would cost more
// than a launch.
const attentionGeometry = new Float64Array(34);
const mergeGeometry = new Float64Array(28);

/** Writes numbers one after the other. */
class Writer {
  #at = 0;

  constructor(readonly array: Float64Array) {}

  put(...values: readonly number[]): this {
    for (const value of values) this.array[this.#at++] = value;
    return this;
  }

  /**
   * Offset and strides along batch, heads and seqlen; zeros for null, and for what has no elements:
   * rows of no columns are no memory that strides could lead through.
   */
  rows(tensor: Operand, [batch, heads, seqlen]: readonly [number, number, number]): this {
    if (tensor === null || tensor.size === 0) return this.put(0, 0, 0, 0);
    const { offset, strides } = tensor;
    return this.put(offset, strides[batch]!, strides[heads]!, strides[seqlen]!);
  }
}

/** The geometry of attentionFwd, good until the next call. */
export function packAttention(
  { q, k, v, out, lse, mask, sinks }: Tensors,
  layout: Layout,
): Float64Array {
  const order = axes[layout];
  const writer = new Writer(attentionGeometry);
  writer.put(q.shape[3]!, v.shape[3]!, ...sizesOf(q, layout), ...sizesOf(k, layout));
  for (const tensor of [q, k, v, out]) writer.rows(tensor, order);
  writer.rows(lse, lseAxes);
  putMask(writer, mask);
  return writer.put(sinks?.offset ?? 0).array;
}

// Columns, offset, strides. A size of 1 counts for every index: a stride of 0.
function putMask(writer: Writer, mask: Operand): void {
  if (mask === null || mask.size === 0) {
    writer.put(0, 0, 0, 0, 0);
    return;
  }
  const { shape, strides, offset } = mask;
  const rank = shape.length;
  const strideAt = (dim: number): number => (dim < 0 || shape[dim] === 1 ? 0 : strides[dim]!);
  const columns = rank > 0 && strideAt(rank - 1) !== 0 ? shape[rank - 1]! : 1;
  writer.put(columns, offset, strideAt(rank - 4), strideAt(rank - 3), strideAt(rank - 2));
}

/** The geometry of mergeFwd, good until the next call. */
export function packMerge(
  outs: readonly [outA: Tensor, outB: Tensor, out: Tensor],
  lses: readonly [lseA: Tensor, lseB: Tensor, lse: Tensor],
  layout: Layout,
): Float64Array {
  const [out] = outs;
  const writer = new Writer(mergeGeometry);
  writer.put(out.shape[3]!, ...sizesOf(out, layout));
  outs.forEach((tensor, i) => {
    writer.rows(tensor, axes[layout]).rows(lses[i]!, lseAxes);
  });
  return writer.array;
}

/** Whether the last dimension is dense, or, for a mask, the same element over and over. */
function isUsable(tensor: Tensor, repeats: boolean): boolean {
  const last = tensor.shape.length - 1;
  if (last < 0 || tensor.shape[last]! <= 1 || tensor.strides[last] === 1) return true;
  return repeats && tensor.strides[last] === 0;
}

/**
 * Calls `launch` with the tensors, or with dense copies in place of those with a last dimension
 * that is not dense.
 */
export function withUsable<T extends Record<keyof T, Operand>>(
  tensors: T,
  written: keyof T,
  stream: StreamHandle | null,
  launch: (tensors: T) => void,
): void {
  const names = Object.keys(tensors) as (keyof T)[];
  const unusable = names.filter((name) => {
    const tensor: Operand = tensors[name];
    return tensor !== null && name !== "lse" && !isUsable(tensor, name === "mask");
  });
  if (unusable.length === 0) {
    launch(tensors);
    return;
  }
  const read = unusable.filter((name) => name !== written);
  const writes = unusable.filter((name) => name === written);
  const operands = (list: (keyof T)[]): Operand[] => list.map((name) => tensors[name]);
  throughDenseRows(operands(read), operands(writes), stream, (inputs, outputs) => {
    const copies = { ...tensors };
    read.forEach((name, i) => {
      copies[name] = inputs[i] as T[keyof T];
    });
    writes.forEach((name, i) => {
      copies[name] = outputs[i] as T[keyof T];
    });
    launch(copies);
  });
}
