// Typed arrays from outside, which may be of another realm, shared, without their memory, or of a
// subclass whose properties say something else.
import type { TypedArray } from "./dtypes.js";
import { valueError } from "./errors.js";

const prototype = Object.getPrototypeOf(Uint8Array.prototype) as object;
const keysOf = (prototype as { keys(): unknown }).keys;

/** What the language itself knows of a typed array. */
function intrinsic(key: PropertyKey): (this: unknown) => unknown {
  return Object.getOwnPropertyDescriptor(prototype, key)?.get as () => unknown;
}

const tagOf = intrinsic(Symbol.toStringTag);
const bufferOf = intrinsic("buffer") as () => ArrayBufferLike;
const offsetOf = intrinsic("byteOffset") as () => number;
const widthOf = intrinsic("byteLength") as () => number;
const countOf = intrinsic("length") as () => number;

/** "Float32Array" or the like, also for subclasses; null for what is no typed array. */
export function arrayName(value: unknown): string | null {
  const tag = tagOf.call(value);
  return typeof tag === "string" ? tag : null;
}

/** Whether the array still has its memory: not detached, and inside a buffer that has shrunk. */
export function isUsable(array: TypedArray): boolean {
  try {
    keysOf.call(array); // throws for arrays without memory, and reads none
    return true;
  } catch {
    return false;
  }
}

/** Number of elements. */
export function lengthOf(array: TypedArray): number {
  return countOf.call(array);
}

/** The array's own memory; ERR_VALUE beyond a Uint8Array's longest, which is 4 GiB in Node 20. */
export function bytesOf(op: string, array: TypedArray): Uint8Array {
  const length = widthOf.call(array);
  try {
    return new Uint8Array(bufferOf.call(array), offsetOf.call(array), length);
  } catch {
    throw valueError(`${op}: expected an array of fewer bytes, got ${length}`);
  }
}

/** A new array of zeros, or ERR_VALUE where it would be too long for JavaScript or the memory. */
export function newArray<A>(op: string, kind: new (length: number) => A, length: number): A {
  try {
    return new kind(length);
  } catch {
    throw valueError(`${op}: expected a tensor that fits in one array, got ${length} elements`);
  }
}
