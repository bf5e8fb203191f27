// Reading tensors back into JavaScript's arrays.
import { types } from "node:util";
import { convertBlock, live } from "./blocks.js";
import { describe, listOf, shapeText, withArticle } from "./describe.js";
import { type DType, dataDType, dtypeBytes, type TypedArray } from "./dtypes.js";
import { dtypeError, kindError, shapeError, valueError } from "./errors.js";
import type { Block } from "./internals.js";
import { isDense } from "./layout.js";
import { native } from "./native.js";
import { streamFor } from "./streams.js";
import type { NestedArray, Tensor } from "./tensor.js";
import { arrayName } from "./typed-arrays.js";

type DataArray = Float32Array | Int32Array | BigInt64Array | Uint8Array;
type Item = number | bigint | boolean;

export async function readData(op: string, tensor: Tensor): Promise<DataArray> {
  const array = makeArray(op, dataDType(tensor.dtype), tensor.size);
  await read(op, tensor, dataDType(tensor.dtype), bytesOf(array));
  return array;
}

export function readDataSync(op: string, tensor: Tensor): DataArray {
  const array = makeArray(op, dataDType(tensor.dtype), tensor.size);
  readSync(op, tensor, dataDType(tensor.dtype), bytesOf(array));
  return array;
}

export async function readBytes(op: string, tensor: Tensor): Promise<Uint8Array> {
  const array = makeArray(op, "uint8", tensor.byteLength) as Uint8Array;
  await read(op, tensor, tensor.dtype, array);
  return array;
}

export async function readItem(tensor: Tensor): Promise<Item> {
  if (tensor.size !== 1) {
    throw shapeError(
      `item: expected a tensor of one element, got shape ${shapeText(tensor.shape)}`,
    );
  }
  const data = await readData("item", tensor);
  return itemsOf(tensor.dtype, data)[0] as Item;
}

export async function readNested(tensor: Tensor): Promise<NestedArray<Item>> {
  const data = await readData("tolist", tensor);
  return nest(itemsOf(tensor.dtype, data), tensor.shape, { next: 0 }, 0);
}

function nest(
  items: readonly Item[],
  shape: readonly number[],
  at: { next: number },
  dim: number,
): NestedArray<Item> {
  if (dim === shape.length) return items[at.next++]!;
  return Array.from({ length: shape[dim]! }, () => nest(items, shape, at, dim + 1));
}

function itemsOf(dtype: DType, data: DataArray): Item[] {
  const items: Item[] = Array.from<number | bigint>(data as ArrayLike<number | bigint>);
  return dtype === "bool" ? items.map((item) => item !== 0) : items;
}

export async function readInto(tensor: Tensor, into: TypedArray): Promise<void> {
  const dtype = checkTarget(tensor, into);
  if (types.isArrayBuffer(into.buffer)) {
    await read("read", tensor, dtype, bytesOf(into));
    return;
  }
  // Native code does not write to memory that other threads share.
  const arrived = makeArray("read", "uint8", into.byteLength) as Uint8Array;
  await read("read", tensor, dtype, arrived);
  bytesOf(into).set(arrived);
}

/** The dtype that the array receives, or the error that says which arrays fit. */
function checkTarget(tensor: Tensor, into: unknown): DType {
  const name = arrayName(into);
  if (name === null) {
    throw kindError(`read: expected into to be a TypedArray, got ${describe(into)}`);
  }
  const fitting = fittingArrays(tensor.dtype);
  if (!Object.hasOwn(fitting, name)) {
    const names = withArticle(listOf(Object.keys(fitting)));
    throw dtypeError(
      `read: expected into to be ${names} for ${tensor.dtype}, got ${withArticle(name)}`,
    );
  }
  const { length } = into as TypedArray;
  if (length !== tensor.size) {
    throw shapeError(`read: expected into of ${tensor.size} elements, got ${length}`);
  }
  return fitting[name]!;
}

function fittingArrays(dtype: DType): Record<string, DType> {
  switch (dtype) {
    case "float32":
      return { Float32Array: dtype };
    case "float16":
      return { Float32Array: "float32", Uint16Array: dtype, Float16Array: dtype };
    case "bfloat16":
      return { Float32Array: "float32", Uint16Array: dtype };
    case "int32":
      return { Int32Array: dtype };
    case "int64":
      return { BigInt64Array: dtype };
    default:
      return { Uint8Array: dtype };
  }
}

async function read(op: string, tensor: Tensor, dtype: DType, into: Uint8Array): Promise<void> {
  if (tensor.device === "cpu") {
    readSync(op, tensor, dtype, into);
    return;
  }
  const source = denseSource(op, tensor, dtype);
  let arrival: Promise<void> | undefined;
  try {
    if (into.length > 0) {
      const stream = streamFor(op, tensor.device);
      arrival = native().read(source.handle, source.offset * dtypeBytes(dtype), into, stream);
    }
  } finally {
    source.end(); // what has been enqueued still reads it
  }
  await arrival;
}

function readSync(op: string, tensor: Tensor, dtype: DType, into: Uint8Array): void {
  const source = denseSource(op, tensor, dtype);
  try {
    if (into.length > 0) {
      const stream = streamFor(op, tensor.device);
      native().readSync(source.handle, source.offset * dtypeBytes(dtype), into, stream);
    }
  } finally {
    source.end();
  }
}

/** The elements one after the other in a dtype, and what ends them if they are a copy. */
function denseSource(op: string, tensor: Tensor, dtype: DType): Block & { end(): void } {
  const block = live(op, tensor);
  if (dtype === block.dtype && isDense(block)) return { ...block, end() {} };
  const copy = convertBlock(block, dtype, streamFor(op, tensor.device));
  return { ...copy, end: () => native().dispose(copy.handle) };
}

function makeArray(op: string, dtype: DType, length: number): DataArray {
  try {
    switch (dtype) {
      case "int32":
        return new Int32Array(length);
      case "int64":
        return new BigInt64Array(length);
      case "uint8":
      case "bool":
        return new Uint8Array(length);
      default:
        return new Float32Array(length);
    }
  } catch {
    throw valueError(`${op}: expected a tensor that fits in one array, got ${length} elements`);
  }
}

function bytesOf(array: TypedArray): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
