import { checkRank, parseDim } from "./arguments.js";
import { allocateBlock, copyBlock, filled, live } from "./blocks.js";
import { describe, isArray, shapeText } from "./describe.js";
import type { DType } from "./dtypes.js";
import { kindError, shapeError, valueError } from "./errors.js";
import type { Layout } from "./internals.js";
import { checkDevice, checkDtype } from "./kernel/checks.js";
import { checkTensor } from "./kernel/handles.js";
import { elementCount, narrowLayout, unsqueezeLayout } from "./layout.js";
import { makeTensor } from "./making.js";
import { streamFor } from "./streams.js";
import type { Tensor } from "./tensor.js";

/**
 * Tensors joined along an existing dimension, in new memory. They must agree in dtype, device, and
 * all other dimensions.
 *
 * @param dim counted from the end when negative. Default 0
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE; Error ERR_DEVICE,
 *   ERR_DISPOSED
 *
 * @example
 * import { cat, ones, zeros } from "@warpwright/runtime";
 *
 * const x = cat([ones([2, 3]), zeros([1, 3])]); // [3, 3]
 */
export function cat<D extends DType>(tensors: readonly Tensor<D>[], dim = 0): Tensor<D> {
  const list = readAll("cat", tensors);
  const first = list[0]!;
  const at = parseDim("cat", "dim", dim, first.shape.length);
  let total = 0;
  list.forEach((tensor, i) => {
    const size = tensor.shape[at] ?? 0;
    const wanted = first.shape.map((other, j) => (j === at ? size : other));
    checkSameShape("cat", i, tensor.shape, wanted);
    total += size;
  });
  const shape = first.shape.map((size, i) => (i === at ? total : size));
  return join("cat", list, list, shape, at);
}

/**
 * Tensors of one shape, dtype and device joined along a new dimension, in new memory.
 *
 * @param dim position of the new dimension, counted from the end when negative. Default 0
 * @throws as cat()
 *
 * @example
 * import { ones, stack, zeros } from "@warpwright/runtime";
 *
 * const x = stack([ones([3]), zeros([3])]); // [2, 3]
 */
export function stack<D extends DType>(tensors: readonly Tensor<D>[], dim = 0): Tensor<D> {
  const list = readAll("stack", tensors);
  const first = list[0]!;
  checkRank("stack", first.shape.length + 1);
  const at = parseDim("stack", "dim", dim, first.shape.length + 1);
  list.forEach((tensor, i) => {
    checkSameShape("stack", i, tensor.shape, first.shape);
  });
  const shape = [...first.shape.slice(0, at), list.length, ...first.shape.slice(at)];
  const slices = list.map((tensor) => unsqueezeLayout(tensor, at));
  return join("stack", list, slices, shape, at);
}

/** The tensors, at least one, each read once and checked. */
function readAll<D extends DType>(op: string, tensors: readonly Tensor<D>[]): Tensor<D>[] {
  if (!isArray(tensors)) {
    throw kindError(`${op}: expected tensors to be an array, got ${describe(tensors)}`);
  }
  const list: Tensor<D>[] = [];
  // By index, because every other way to walk an array passes over its holes.
  for (let i = 0; i < tensors.length; i++) {
    const tensor = tensors[i];
    const name = `tensors[${i}]`;
    checkTensor(op, name, tensor);
    const { dtype, device } = list[0] ?? tensor;
    checkDtype(op, name, tensor, dtype);
    checkDevice(op, name, tensor, device);
    list.push(tensor as unknown as Tensor<D>);
  }
  if (list.length > 0) return list;
  throw valueError(`${op}: expected at least one tensor, got none`);
}

function checkSameShape(
  op: string,
  index: number,
  shape: readonly number[],
  wanted: readonly number[],
): void {
  if (shape.length === wanted.length && shape.every((size, i) => size === wanted[i])) return;
  throw shapeError(
    `${op}: expected tensors[${index}] of shape ${shapeText(wanted)}, got ${shapeText(shape)}`,
  );
}

function join<D extends DType>(
  op: string,
  tensors: readonly Tensor<D>[],
  slices: readonly Layout[],
  shape: readonly number[],
  dim: number,
): Tensor<D> {
  const { dtype, device } = tensors[0]!;
  const stream = streamFor(op, device);
  const whole = allocateBlock(op, shape, dtype, device, stream);
  let start = 0;
  const copySlice = ({ shape: sizes, strides, offset }: Layout, i: number) => {
    const length = sizes[dim]!;
    if (elementCount(sizes) > 0) {
      const place = { ...whole, ...narrowLayout(whole, dim, start, length) };
      copyBlock(place, { ...live(op, tensors[i]!), shape: sizes, strides, offset }, stream);
    }
    start += length;
  };
  return makeTensor(filled(whole, () => slices.forEach(copySlice)));
}
