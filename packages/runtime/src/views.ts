import {
  checkInteger,
  checkRank,
  checkSize,
  fromEnd,
  parseDim,
  parseExpandShape,
  parseViewShape,
  type ShapeArguments,
  unwrapSizes,
} from "./arguments.js";
import { convertBlock, live, placed } from "./blocks.js";
import { shapeText } from "./describe.js";
import { Disposing } from "./disposing.js";
import type { DType } from "./dtypes.js";
import { shapeError, valueError } from "./errors.js";
import {
  type Block,
  type DeviceName,
  HANDLE,
  type Layout,
  STORAGE,
  type StorageToken,
} from "./internals.js";
import * as layouts from "./layout.js";
import { makeTensor } from "./making.js";
import { type Handle, native } from "./native.js";
import { permutation, splitLayouts } from "./splitting.js";
import { streamFor } from "./streams.js";
import type { Tensor } from "./tensor.js";

/**
 * The half of Tensor that is geometry: its fields, and the methods that give other views of the
 * same memory.
 */
export abstract class TensorViews<D extends DType> extends Disposing {
  // Private, because a program that could set them would be believed.
  readonly #dtype: D;
  readonly #device: DeviceName;
  readonly #shape: readonly number[];
  readonly #strides: readonly number[];
  readonly #offset: number;
  readonly #size: number;
  [HANDLE]: Handle | null;
  readonly [STORAGE]: StorageToken;

  protected constructor(block: Block, storage: StorageToken | undefined) {
    super();
    this.#dtype = block.dtype as D;
    this.#device = block.device;
    this.#shape = block.shape;
    this.#strides = block.strides;
    this.#offset = block.offset;
    this.#size = layouts.elementCount(block.shape);
    this[HANDLE] = block.handle;
    this[STORAGE] = storage ?? {};
  }

  /** Whether the object has the private fields, which a proxy of a tensor has not. */
  protected static hasFields(value: object): boolean {
    return #dtype in value;
  }

  get dtype(): D {
    return this.#dtype;
  }

  /** Full name of the device: "cpu", "cuda:0". */
  get device(): DeviceName {
    return this.#device;
  }

  /** Frozen. */
  get shape(): readonly number[] {
    return this.#shape;
  }

  /** Elements between neighbours along each dimension; frozen. */
  get strides(): readonly number[] {
    return this.#strides;
  }

  /** Elements from the memory's first to this view's first. */
  get offset(): number {
    return this.#offset;
  }

  /** Number of elements. */
  get size(): number {
    return this.#size;
  }

  /**
   * The same memory in another shape of as many elements; one size may be -1. ERR_SHAPE where the
   * strides do not allow it: reshape() copies then.
   *
   * @param shape as one array, or its sizes one by one
   */
  view(...shape: ShapeArguments): Tensor<D> {
    const to = parseViewShape("view", shape, this.size, this.dtype);
    const layout = layouts.viewLayout(this, to);
    if (layout !== null) return viewOf("view", this, layout);
    throw shapeError(
      `view: expected a shape that strides ${shapeText(this.strides)} allow, got ` +
        `${shapeText(to)} of ${shapeText(this.shape)}; reshape copies`,
    );
  }

  /** As view(), but copies where the strides demand it. */
  reshape(...shape: ShapeArguments): Tensor<D> {
    return reshaped("reshape", this, parseViewShape("reshape", shape, this.size, this.dtype));
  }

  /** Dimensions `startDim` to `endDim` as one; copies where the strides demand it. */
  flatten(startDim = 0, endDim = -1): Tensor<D> {
    const rank = Math.max(this.shape.length, 1);
    const start = parseDim("flatten", "startDim", startDim, rank);
    const end = parseDim("flatten", "endDim", endDim, rank);
    if (start > end) {
      throw shapeError(`flatten: expected startDim before endDim, got ${startDim} and ${endDim}`);
    }
    const count = layouts.elementCount(this.shape.slice(start, end + 1));
    const shape = [...this.shape.slice(0, start), count, ...this.shape.slice(end + 1)];
    return reshaped("flatten", this, shape);
  }

  /** With a dimension of size 1 before dimension `dim`, or as the last for `dim` = rank or -1. */
  unsqueeze(dim: number): Tensor<D> {
    checkRank("unsqueeze", this.shape.length + 1);
    const at = parseDim("unsqueeze", "dim", dim, this.shape.length + 1);
    return viewOf("unsqueeze", this, layouts.unsqueezeLayout(this, at));
  }

  /** Without the dimensions of size 1, or without `dim` if its size is 1. */
  squeeze(dim?: number): Tensor<D> {
    const only = dim === undefined ? -1 : parseDim("squeeze", "dim", dim, this.shape.length);
    const layout = layouts.dropLayout(
      this,
      (i) => this.shape[i] === 1 && (dim === undefined || i === only),
    );
    return viewOf("squeeze", this, layout);
  }

  /** With two dimensions exchanged; the last two by default. */
  transpose(dim0 = -2, dim1 = -1): Tensor<D> {
    const rank = this.shape.length;
    const a = parseDim("transpose", "dim0", dim0, rank);
    const b = parseDim("transpose", "dim1", dim1, rank);
    const order = this.shape.map((_, i) => (i === a ? b : i === b ? a : i));
    return viewOf("transpose", this, layouts.permuteLayout(this, order));
  }

  /** With the dimensions in another order, given as one array or one by one. */
  permute(...dims: ShapeArguments): Tensor<D> {
    const order = permutation(unwrapSizes("permute", dims), this.shape.length);
    return viewOf("permute", this, layouts.permuteLayout(this, order));
  }

  /** The `length` entries of a dimension from `start` on; start counts from the end if negative. */
  narrow(dim: number, start: number, length: number): Tensor<D> {
    const at = parseDim("narrow", "dim", dim, this.shape.length);
    const size = this.shape[at]!;
    checkInteger("narrow", "start", start);
    const first = start === size ? size : fromEnd("narrow", "start", start, size);
    checkSize("narrow", "length to be an integer of at least 0", length, 0);
    if (length > size - first) {
      throw valueError(
        `narrow: expected start + length of at most ${size}, got ${first} + ${length}`,
      );
    }
    return viewOf("narrow", this, layouts.narrowLayout(this, at, first, length));
  }

  /** One entry of a dimension, without that dimension; the index may be negative. */
  select(dim: number, index: number): Tensor<D> {
    const at = parseDim("select", "dim", dim, this.shape.length);
    checkInteger("select", "index", index);
    const first = fromEnd("select", "index", index, this.shape[at]!);
    return viewOf("select", this, layouts.selectLayout(this, at, first));
  }

  /**
   * At most `count` pieces of a dimension, each of ceil(size / count) entries but the last; one
   * empty piece of an empty dimension. ERR_VALUE for more than 2^20 pieces.
   */
  chunk(count: number, dim = 0): Tensor<D>[] {
    checkSize("chunk", "count to be an integer of at least 1", count, 1);
    const at = parseDim("chunk", "dim", dim, this.shape.length);
    const size = Math.max(Math.ceil(this.shape[at]! / count), 1);
    return splitLayouts("chunk", this, size, at).map((piece) => viewOf("chunk", this, piece));
  }

  /**
   * Pieces of a dimension: of `sizes` entries each but the last, or of exactly these sizes.
   * ERR_VALUE for more than 2^20 pieces.
   */
  split(sizes: number | readonly number[], dim = 0): Tensor<D>[] {
    const at = parseDim("split", "dim", dim, this.shape.length);
    return splitLayouts("split", this, sizes, at).map((piece) => viewOf("split", this, piece));
  }

  /**
   * Dimensions of size 1 repeated, with strides of 0, and new ones in front; -1 keeps a size. Not
   * to be written to.
   */
  expand(...shape: ShapeArguments): Tensor<D> {
    const to = parseExpandShape("expand", shape, this.shape, this.dtype);
    if (!layouts.broadcasts(this.shape, to)) {
      throw shapeError(
        `expand: expected a shape that ${shapeText(this.shape)} broadcasts to, ` +
          `got ${shapeText(to)}`,
      );
    }
    return viewOf("expand", this, layouts.expandLayout(this, to));
  }

  /** Whether the elements lie one after the other in row-major order. */
  isContiguous(): boolean {
    return layouts.isDense(this);
  }
}

/** A new tensor on the same memory. */
export function viewOf<D extends DType>(
  op: string,
  tensor: TensorViews<D>,
  layout: Layout,
): Tensor<D> {
  const handle = native().share(live(op, tensor).handle);
  const block = placed(handle, tensor.dtype, tensor.device, layout);
  return makeTensor(block, tensor[STORAGE]);
}

/** A new contiguous tensor of the same elements, in a shape of as many. */
export function copyOf<D extends DType>(
  op: string,
  tensor: TensorViews<D>,
  shape: readonly number[],
): Tensor<D> {
  const copy = convertBlock(op, live(op, tensor), tensor.dtype, streamFor(op, tensor.device));
  return makeTensor({ ...copy, ...layouts.denseLayout(shape) });
}

function reshaped<D extends DType>(
  op: string,
  tensor: TensorViews<D>,
  shape: readonly number[],
): Tensor<D> {
  const layout = layouts.viewLayout(tensor, shape);
  return layout === null ? copyOf(op, tensor, shape) : viewOf(op, tensor, layout);
}
