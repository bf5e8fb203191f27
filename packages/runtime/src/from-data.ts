import { parseShape } from "./arguments.js";
import { allocateBlock, allocateBytes, copyFromCode } from "./blocks.js";
import { type CreateOptions, delivered, parseCreate } from "./creation.js";
import { type DataSource, type NestedData, ownBytes, readSource } from "./data-source.js";
import { describe, shapeText } from "./describe.js";
import { usableDevice } from "./devices.js";
import {
  type DType,
  dtypeBytes,
  dtypeCode,
  dtypes,
  float64Code,
  parseDType,
  type TypedArray,
} from "./dtypes.js";
import { kindError, shapeError, valueError } from "./errors.js";
import type { BlockOf, DeviceName } from "./internals.js";
import { checkFinite, checkOptions } from "./kernel/checks.js";
import { denseLayout, elementCount } from "./layout.js";
import { makeTensor } from "./making.js";
import { native } from "./native.js";
import { streamFor } from "./streams.js";
import type { Tensor } from "./tensor.js";
import { arrayName, isUsable, newArray } from "./typed-arrays.js";

// Elements of the arrays, one level in; as deep as tensors have dimensions.
type Inner<T> = T extends readonly (infer E)[] ? E : T;
type Leaf<T> = Inner<Inner<Inner<Inner<Inner<Inner<Inner<Inner<T>>>>>>>>;

type DTypeOfLeaf<L> = [L] extends [never]
  ? "float32"
  : L extends number | Float32Array | Float64Array
    ? "float32"
    : L extends Int8Array | Int16Array | Int32Array | Uint16Array
      ? "int32"
      : L extends bigint | Uint32Array | BigInt64Array | BigUint64Array
        ? "int64"
        : L extends Uint8Array | Uint8ClampedArray
          ? "uint8"
          : L extends boolean
            ? "bool"
            : DType;

/** The dtype of a tensor of this data when none is given. */
export type DTypeOfData<T> = DTypeOfLeaf<Leaf<T>>;

/** Options of tensor(). */
export interface TensorOptions<D extends DType = DType> extends CreateOptions<D> {
  /** As many elements as the data has. Default: the data's nesting; [length] for a TypedArray. */
  shape?: readonly number[] | undefined;
}

/**
 * A tensor with a copy of the data: numbers in nested arrays, one number, or a TypedArray.
 *
 * @param options.dtype to which the data is converted, with one rounding to nearest even. A
 *   Uint16Array for float16 or bfloat16 holds bits. Default: float32 for numbers, Float32Array and
 *   Float64Array, bool for booleans, int64 for bigints, Uint32Array and 64-bit arrays, float16 for
 *   Float16Array, uint8 for Uint8Array, int32 for the other arrays
 * @throws TypeError ERR_KIND for other data or elements of mixed kinds, ERR_DTYPE; RangeError
 *   ERR_SHAPE for ragged nesting or another number of elements, ERR_VALUE for an array without
 *   memory or integers beyond 64 bits; Error ERR_DEVICE
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 *
 * const x = tensor([[1, 2], [3, 4]], { dtype: "bfloat16" });
 * const y = tensor(new Float32Array(6), { shape: [2, 3] });
 */
export function tensor<const T extends NestedData | TypedArray, D extends DType = DTypeOfData<T>>(
  data: T,
  options: TensorOptions<D> = {},
): Tensor<D> {
  const op = "tensor";
  checkOptions(op, options, ["shape", "dtype", "device"]);
  // Each read once, and before the data, which a getter among them may change.
  const { shape: sizes, dtype: wanted, device: place } = options;
  const asked = wanted === undefined ? undefined : parseDType(op, wanted);
  const device = usableDevice(op, place ?? "cpu");
  const given = sizes === undefined ? undefined : parseShape(op, sizes, asked ?? "uint8");
  const source = readSource(data, asked);
  const dtype = asked ?? source.dtype;
  const shape = parseShape(op, given ?? source.shape, dtype);
  const count = elementCount(source.shape);
  if (elementCount(shape) !== count) {
    throw shapeError(`${op}: expected a shape of ${count} elements, got ${shapeText(shape)}`);
  }
  return upload<D>(op, source, shape, dtype, device);
}

/**
 * A tensor whose elements have the given bits, which are copied; bool takes any but 0 as 1.
 *
 * @param bytes as many as the shape and the dtype take, in row-major order, little-endian
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE for another number of bytes,
 *   ERR_VALUE; Error ERR_DEVICE
 *
 * @example
 * import { fromBytes } from "@warpwright/runtime";
 *
 * const one = fromBytes(new Uint8Array([0x80, 0x3f]), { shape: [1], dtype: "bfloat16" });
 */
export function fromBytes<D extends DType>(
  bytes: Uint8Array,
  options: { shape: readonly number[]; dtype: D; device?: CreateOptions["device"] },
): Tensor<D> {
  const op = "fromBytes";
  checkOptions(op, options, ["shape", "dtype", "device"]);
  // Each read once, and before the bytes, which a getter among them may change.
  const { shape: sizes, dtype: wanted, device: place } = options;
  const dtype = parseDType(op, wanted);
  const device = usableDevice(op, place ?? "cpu");
  const shape = parseShape(op, sizes, dtype);
  if (arrayName(bytes) !== "Uint8Array") {
    throw kindError(`${op}: expected bytes to be a Uint8Array, got ${describe(bytes)}`);
  }
  if (!isUsable(bytes)) {
    throw valueError(`${op}: expected bytes to have their memory, got a detached Uint8Array`);
  }
  const own = ownBytes(op, bytes);
  const needed = elementCount(shape) * dtypeBytes(dtype);
  if (own.length !== needed) {
    throw shapeError(
      `${op}: expected ${needed} bytes for shape ${shapeText(shape)} of ${dtype}, ` +
        `got ${own.length}`,
    );
  }
  // As a conversion, which leaves 0 and 1.
  const code = dtypeCode(dtype === "bool" ? "uint8" : dtype);
  const source = { bytes: own, code, dtype, shape };
  return upload<D>(op, source, shape, dtype, device);
}

/**
 * The numbers start, start + step, … below `end` (above it for a negative step), each formed in
 * float64 and converted once.
 *
 * @param start default 0
 * @param step default 1
 * @param options.dtype default "float32", which is exact for integers to 2^24
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_VALUE for a step of 0 or away from `end`
 *
 * @example
 * import { arange } from "@warpwright/runtime";
 *
 * const positions = arange(128, { dtype: "int32" });
 * const halves = arange(0, 2, 0.5);
 */
export function arange<D extends DType = "float32">(
  end: number,
  options?: CreateOptions<D>,
): Tensor<D>;
export function arange<D extends DType = "float32">(
  start: number,
  end: number,
  options?: CreateOptions<D>,
): Tensor<D>;
export function arange<D extends DType = "float32">(
  start: number,
  end: number,
  step: number,
  options?: CreateOptions<D>,
): Tensor<D>;
export function arange(...args: (number | CreateOptions | undefined)[]): Tensor {
  const numbers = [...args];
  const last = numbers.at(-1);
  const hasOptions = numbers.length > 1 && typeof last !== "number";
  const options = hasOptions ? ((numbers.pop() ?? {}) as CreateOptions) : {};
  const [start, end, step = 1] = numbers.length === 1 ? [0, numbers[0]] : numbers;
  checkFinite("arange", "start", start);
  checkFinite("arange", "end", end);
  checkFinite("arange", "step", step);
  if (step === 0 || (end - start) / step < 0) {
    throw valueError(`arange: expected a step that leads from ${start} to ${end}, got ${step}`);
  }
  const { dtype, device } = parseCreate("arange", options, "float32");
  const shape = parseShape("arange", [Math.ceil((end - start) / step)], "int64");
  const values = newArray("arange", Float64Array, shape[0]!);
  for (let i = 0; i < values.length; i++) values[i] = start + i * step;
  return upload("arange", readSource(values, undefined), shape, dtype, device);
}

function upload<D extends DType>(
  op: string,
  source: DataSource,
  shape: readonly number[],
  dtype: DType,
  device: DeviceName,
): Tensor<D> {
  const stream = streamFor(op, device);
  const count = elementCount(shape);
  const width = source.code === float64Code ? 8 : dtypeBytes(dtypes[source.code]!);
  // Whatever the data was, no element is left as the memory was.
  if (source.bytes.length !== count * width) {
    throw valueError(`${op}: expected data to keep its memory during the call`);
  }
  if (source.code === dtypeCode(dtype)) {
    const block = allocateBlock(op, shape, dtype, device, stream);
    if (source.bytes.length > 0) native().write(block.handle, 0, source.bytes, stream);
    return makeTensor(block as BlockOf<D>);
  }
  const block = allocateBlock(op, shape, dtype, "cpu", null);
  if (source.bytes.length > 0) {
    const given = allocateBytes(op, source.bytes.length, "cpu", null);
    native().write(given, 0, source.bytes, null);
    copyFromCode(block, { handle: given, ...denseLayout(shape) }, source.code, null);
    native().dispose(given);
  }
  return delivered<D>(op, block, device);
}
