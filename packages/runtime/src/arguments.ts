// Arguments of public functions, checked and brought to one form.
import { describe, isArray, quote, shapeText } from "./describe.js";
import { type DType, dtypeBytes } from "./dtypes.js";
import { kindError, shapeError, valueError } from "./errors.js";
import type { DeviceName } from "./internals.js";
import { elementCount } from "./layout.js";

/** A device: "cuda" means "cuda:0". */
export type Device = "cpu" | "cuda" | `cuda:${number}`;

/** Sizes as one array, or one after the other. */
export type ShapeArguments = readonly number[] | readonly [shape: readonly number[]];

/** What native code, and so every tensor, has room for. */
export const maxRank = 8;

/** The device's full name, or ERR_KIND or ERR_VALUE; whether it exists is not asked. */
export function parseDevice(op: string, value: unknown): DeviceName {
  if (value === "cpu") return "cpu";
  if (value === "cuda") return "cuda:0";
  if (typeof value !== "string") {
    throw kindError(`${op}: expected device to be a string, got ${describe(value)}`);
  }
  if (!isDeviceName(value)) {
    throw valueError(`${op}: expected device to be "cpu", "cuda" or "cuda:N", got ${quote(value)}`);
  }
  return value;
}

export function isDeviceName(value: string): value is DeviceName {
  return value === "cpu" || /^cuda:(0|[1-9]\d{0,3})$/.test(value);
}

/**
 * The ordinal that addons know a device by: -1 for the CPU.
 *
 * @example
 * import { deviceOrdinal } from "@warpwright/runtime/kernel";
 *
 * console.log(deviceOrdinal("cuda:1")); // 1
 */
export function deviceOrdinal(device: DeviceName): number {
  if (device === "cpu") return -1;
  return device === "cuda:0" ? 0 : Number(device.slice("cuda:".length));
}

/** The sizes, checked and frozen: integers of at least 0 whose bytes can be counted. */
export function parseShape(op: string, value: unknown, dtype: DType): readonly number[] {
  if (!isArray(value)) {
    throw kindError(`${op}: expected shape to be an array of sizes, got ${describe(value)}`);
  }
  const shape: number[] = [];
  let bytes = dtypeBytes(dtype);
  for (const size of entriesOf(op, value)) {
    checkSize(op, "shape to hold integers of at least 0", size, 0);
    shape.push(size + 0); // -0 becomes 0
    // Sizes of 0 count as 1: the strides of an empty tensor have to be countable too.
    bytes *= Math.max(size, 1);
  }
  if (bytes > Number.MAX_SAFE_INTEGER) {
    throw valueError(`${op}: expected a shape of at most 2^53 bytes, got ${shapeText(shape)}`);
  }
  return Object.freeze(shape);
}

// What an array of sizes or dimensions holds, each entry read once, a hole as undefined.
function entriesOf(op: string, array: readonly unknown[]): unknown[] {
  const length: unknown = array.length;
  // The array may be a proxy, whose length is anything.
  checkRank(op, typeof length === "number" ? length : Number.NaN);
  const entries: unknown[] = [];
  for (let i = 0; i < (length as number); i++) entries.push(array[i]);
  return entries;
}

/** The shape of a view of `count` elements, a size of -1 replaced by what is left. */
export function parseViewShape(
  op: string,
  sizes: ShapeArguments,
  count: number,
  dtype: DType,
): readonly number[] {
  const wanted = unwrapSizes(op, sizes);
  const open = wanted.indexOf(-1);
  const known = parseShape(op, open < 0 ? wanted : wanted.filter((_, i) => i !== open), dtype);
  const knownCount = elementCount(known);
  if (open < 0 ? knownCount !== count : knownCount === 0 || count % knownCount !== 0) {
    throw shapeError(`${op}: expected a shape of ${count} elements, got ${shapeText(wanted)}`);
  }
  if (open < 0) return known;
  checkRank(op, wanted.length);
  return Object.freeze(wanted.map((size, i) => (i === open ? count / knownCount : size)));
}

/** The shape to expand to, -1 replaced by the size that is there. */
export function parseExpandShape(
  op: string,
  sizes: ShapeArguments,
  from: readonly number[],
  dtype: DType,
): readonly number[] {
  const wanted = unwrapSizes(op, sizes);
  const added = wanted.length - from.length;
  const filled = wanted.map((size, i) => (size === -1 && i >= added ? from[i - added]! : size));
  return parseShape(op, filled, dtype);
}

/** Sizes given as one array or one by one, as a new array; what they hold is not checked. */
export function unwrapSizes(op: string, sizes: ShapeArguments): readonly number[] {
  const first: unknown = sizes[0];
  const given = sizes.length === 1 && typeof first !== "number" ? first : sizes;
  if (isArray(given)) return entriesOf(op, given) as number[];
  throw kindError(`${op}: expected an array of integers, got ${describe(first)}`);
}

/** A position among `rank` dimensions, counted from the end when negative. */
export function parseDim(op: string, name: string, value: unknown, rank: number): number {
  checkInteger(op, name, value);
  if (rank === 0) {
    throw shapeError(`${op}: expected a tensor of at least one dimension, got shape []`);
  }
  return fromEnd(op, name, value, rank);
}

/** An index in [-size, size), counted from the end when negative. */
export function fromEnd(op: string, name: string, value: number, size: number): number {
  if (value >= -size && value < size) return value < 0 ? value + size : value;
  throw valueError(
    `${op}: expected ${name} to be an integer from ${-size} to ${size - 1}, got ${value}`,
  );
}

export function checkInteger(op: string, name: string, value: unknown): asserts value is number {
  if (typeof value !== "number") {
    throw kindError(`${op}: expected ${name} to be a number, got ${describe(value)}`);
  }
  if (!Number.isSafeInteger(value)) {
    throw valueError(`${op}: expected ${name} to be an integer, got ${quote(value)}`);
  }
}

/** `what` completes "expected …" for both messages. */
export function checkSize(
  op: string,
  what: string,
  value: unknown,
  min: number,
): asserts value is number {
  if (typeof value !== "number") {
    throw kindError(`${op}: expected ${what}, got ${describe(value)}`);
  }
  if (!Number.isSafeInteger(value) || value < min) {
    throw valueError(`${op}: expected ${what}, got ${quote(value)}`);
  }
}

export function checkRank(op: string, rank: number): void {
  if (rank <= maxRank) return;
  throw shapeError(`${op}: expected at most ${maxRank} dimensions, got ${rank}`);
}
