import type { Device } from "./arguments.js";
import { live } from "./blocks.js";
import { copyInto, fillWith, moveTo, type ToOptions } from "./copying.js";
import { type DataOf, type DType, dtypeBytes, type ItemOf, type TypedArray } from "./dtypes.js";
import { kindError } from "./errors.js";
import { describeTensor, inspectTensor } from "./inspect.js";
import { type Block, HANDLE, type StorageToken } from "./internals.js";
import { defineTensor } from "./making.js";
import { native } from "./native.js";
import * as reading from "./reading.js";
import { noteTensor } from "./scope.js";
import { copyOf, TensorViews, viewOf } from "./views.js";

const inspect: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

// Outside this file, tensors are made by makeTensor.
const key = Symbol("Tensor");

/** Arrays in arrays, or one element. */
export type NestedArray<T> = T | NestedArray<T>[];

/**
 * An array of numbers on a device: a view of memory that it shares with other views. Every method
 * that returns a new Tensor returns one with its own reference to the memory, which is freed with
 * the last; copyFrom and fill return the tensor itself. Negative dimensions count from the end.
 * After dispose() everything but the fields throws ERR_DISPOSED. On the CPU a method does its work
 * before it returns, and blocks the event loop; on CUDA it enqueues the work and returns.
 *
 * Tensors that are dropped without dispose() are freed some time after a garbage collection: memory
 * stays in use for longer than with dispose() or tidy().
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 *
 * const x = tensor([[1, 2, 3], [4, 5, 6]], { dtype: "bfloat16" });
 * const column = x.select(1, -1);
 * console.log(await column.data()); // Float32Array [3, 6]
 */
export class Tensor<D extends DType = DType> extends TensorViews<D> {
  static {
    defineTensor((block, storage) => new Tensor(key, block, storage), TensorViews.hasFields);
  }

  private constructor(given: symbol, block: Block, storage: StorageToken | undefined) {
    if (given !== key) {
      throw kindError("Tensor: expected a call of tensor(), empty() or the like, got new");
    }
    super(block, storage);
    noteTensor(this as Tensor);
  }

  /** Bytes that the elements take, without what lies between them. */
  get byteLength(): number {
    return this.size * dtypeBytes(this.dtype);
  }

  get disposed(): boolean {
    return this[HANDLE] === null;
  }

  /** Address of the first element, in the device's memory, for other libraries. */
  get pointer(): bigint {
    const { handle } = live("pointer", this);
    return native().pointer(handle) + BigInt(this.offset * dtypeBytes(this.dtype));
  }

  /**
   * A copy of the elements, in row-major order, as they are at the call: work that is enqueued
   * later does not change it. float16 and bfloat16 widen exactly to Float32Array; bool is 0 or 1.
   * Waiting for it lets the event loop turn every 64 KiB or so, when dropped tensors are freed.
   */
  async data(): Promise<DataOf<D>> {
    return reading.readData("data", this as Tensor) as Promise<DataOf<D>>;
  }

  /** As data(), but blocks the thread until the device is there. */
  dataSync(): DataOf<D> {
    return reading.readDataSync("dataSync", this as Tensor) as DataOf<D>;
  }

  /**
   * The elements as nested arrays, a promise as data() is: numbers, bigint for int64, boolean for
   * bool. A tensor without dimensions gives the one element. ERR_VALUE for more than 2^24 elements
   * and inner arrays together.
   */
  async tolist(): Promise<NestedArray<ItemOf<D>>> {
    return reading.readNested(this as Tensor) as Promise<NestedArray<ItemOf<D>>>;
  }

  /** The only element, a promise as data() is. ERR_SHAPE if there are none or more. */
  async item(): Promise<ItemOf<D>> {
    return reading.readItem(this as Tensor) as Promise<ItemOf<D>>;
  }

  /** A copy of the elements' bits, in row-major order, as they are at the call. */
  async bytes(): Promise<Uint8Array> {
    return reading.readBytes("bytes", this as Tensor);
  }

  /**
   * Reads into an array of `size` elements of the kind that data() gives, and resolves to it. For
   * the 16-bit floats also a Uint16Array, which receives the bits, and for float16 a Float16Array.
   * ERR_SHAPE for another length, ERR_DTYPE for another kind, ERR_VALUE if the array loses its
   * memory meanwhile.
   */
  async read<T extends TypedArray>(into: T): Promise<T> {
    await reading.readInto(this as Tensor, into);
    return into;
  }

  /**
   * The tensor on another device, in another dtype, or both; a new object that shares the memory
   * where neither changes. Floats become integers by truncation, NaN as 0, and saturate; anything
   * becomes bool as `x != 0`; each element is rounded once, to nearest even. To the CPU it waits,
   * else it enqueues. ERR_DEVICE without a usable device; nothing falls back.
   *
   * @param options.stream of the CUDA device, the target's if both are. Default: the current one
   */
  to(device: Device): Tensor<D>;
  to<E extends DType>(dtype: E): Tensor<E>;
  to<E extends DType = D>(options: ToOptions<E>): Tensor<E>;
  to(target: Device | DType | ToOptions<DType>): Tensor {
    return moveTo(this as Tensor, target);
  }

  /** A contiguous tensor of the same elements: a copy, unless this one is contiguous. */
  contiguous(): Tensor<D> {
    return this.isContiguous()
      ? viewOf("contiguous", this, this)
      : copyOf("contiguous", this, this.shape);
  }

  /** A contiguous copy. */
  clone(): Tensor<D> {
    return copyOf("clone", this, this.shape);
  }

  /**
   * Overwrites this tensor with another, which is broadcast as by expand(), converted as by to(),
   * and may be on another device or overlap this one. Returns this tensor itself.
   */
  copyFrom(source: Tensor): this {
    copyInto(this as Tensor, source);
    return this;
  }

  /** Sets every element, converted as by to(). Returns this tensor itself. */
  fill(value: number | bigint | boolean): this {
    fillWith(this as Tensor, value);
    return this;
  }

  /** Ends this object; the memory goes with its last view. Harmless when repeated. */
  dispose(): void {
    const handle = this[HANDLE];
    if (handle === null) return;
    this[HANDLE] = null;
    native().dispose(handle);
  }

  /** Dtype, shape and device: `Tensor(bfloat16, [2, 3], cuda:0)`. Reads nothing back. */
  override toString(): string {
    return describeTensor(this as Tensor);
  }

  [inspect](): string {
    return inspectTensor(this as Tensor);
  }
}
