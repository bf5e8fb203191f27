// Reading tensors back into JavaScript's arrays.
import { types } from "node:util";
import { convertBlock, live } from "./blocks.js";
import { refuseInCapture } from "./capturing.js";
import { describe, listOf, shapeText, withArticle } from "./describe.js";
import { type DType, dataDType, dtypeBytes, type TypedArray } from "./dtypes.js";
import { dtypeError, kindError, shapeError, valueError } from "./errors.js";
import type { Block } from "./internals.js";
import { isDense } from "./layout.js";
import { native } from "./native.js";
import { streamFor } from "./streams.js";
import type { NestedArray, Tensor } from "./tensor.js";
import { isTurnDue, noteBytes, turn } from "./turning.js";
import { arrayName, bytesOf, lengthOf, newArray } from "./typed-arrays.js";

type DataArray = Float32Array | Int32Array | BigInt64Array | Uint8Array;
type Item = number | bigint | boolean;

// Elements and arrays of a nested list: more would fill JavaScript's memory, which ends a process.
const maxListed = 2 ** 24;

export async function readData(op: string, tensor: Tensor): Promise<DataArray> {
  const array = arrayFor(op, tensor);
  await read(op, tensor, dataDType(tensor.dtype), bytesOf(op, array));
  return array;
}

export function readDataSync(op: string, tensor: Tensor): DataArray {
  const array = arrayFor(op, tensor);
  readSync(op, tensor, dataDType(tensor.dtype), bytesOf(op, array));
  return array;
}

export async function readBytes(op: string, tensor: Tensor): Promise<Uint8Array> {
  live(op, tensor);
  const array = newArray(op, Uint8Array, tensor.byteLength);
  await read(op, tensor, tensor.dtype, array);
  return array;
}

export async function readItem(tensor: Tensor): Promise<Item> {
  live("item", tensor);
  if (tensor.size !== 1) {
    throw shapeError(
      `item: expected a tensor of one element, got shape ${shapeText(tensor.shape)}`,
    );
  }
  const data = await readData("item", tensor);
  return itemOf(tensor.dtype, data, 0);
}

export async function readNested(tensor: Tensor): Promise<NestedArray<Item>> {
  live("tolist", tensor);
  checkListed(tensor.shape);
  const data = await readData("tolist", tensor);
  return nest(tensor.dtype, data, tensor.shape, { next: 0 }, 0);
}

function checkListed(shape: readonly number[]): void {
  let [count, total] = [1, 0];
  for (const size of shape) {
    count *= size;
    total += count;
  }
  if (total <= maxListed) return;
  throw valueError(
    `tolist: expected at most ${maxListed} elements and arrays in the list, got shape ` +
      shapeText(shape),
  );
}

function nest(
  dtype: DType,
  data: DataArray,
  shape: readonly number[],
  at: { next: number },
  dim: number,
): NestedArray<Item> {
  if (dim === shape.length) return itemOf(dtype, data, at.next++);
  const list = new Array<NestedArray<Item>>(shape[dim]!);
  for (let i = 0; i < list.length; i++) list[i] = nest(dtype, data, shape, at, dim + 1);
  return list;
}

function itemOf(dtype: DType, data: DataArray, index: number): Item {
  const item = data[index]!;
  return dtype === "bool" ? item !== 0 : item;
}

export async function readInto(tensor: Tensor, into: TypedArray): Promise<void> {
  const dtype = checkTarget(tensor, into);
  const target = bytesOf("read", into);
  if (types.isArrayBuffer(target.buffer)) {
    await read("read", tensor, dtype, target);
    return;
  }
  // Native code does not write to memory that other threads share.
  const arrived = newArray("read", Uint8Array, target.length);
  await read("read", tensor, dtype, arrived);
  target.set(arrived);
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
  const length = lengthOf(into as TypedArray);
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
    noteBytes(into.length);
    if (isTurnDue()) await turn();
    return;
  }
  if (into.length > 0) refuseInCapture(op);
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
  if (into.length > 0 && tensor.device !== "cpu") refuseInCapture(op);
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
  const copy = convertBlock(op, block, dtype, streamFor(op, tensor.device));
  return { ...copy, end: () => native().dispose(copy.handle) };
}

function arrayFor(op: string, tensor: Tensor): DataArray {
  live(op, tensor);
  switch (dataDType(tensor.dtype)) {
    case "int32":
      return newArray(op, Int32Array, tensor.size);
    case "int64":
      return newArray(op, BigInt64Array, tensor.size);
    case "uint8":
    case "bool":
      return newArray(op, Uint8Array, tensor.size);
    default:
      return newArray(op, Float32Array, tensor.size);
  }
}
