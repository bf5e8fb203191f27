// Typed arrays from outside, which may be of another realm, shared, or without their memory.
import type { TypedArray } from "./dtypes.js";

const prototype = Object.getPrototypeOf(Uint8Array.prototype) as object;
const tagOf = Object.getOwnPropertyDescriptor(prototype, Symbol.toStringTag)?.get as () => unknown;
const keysOf = (prototype as { keys(): unknown }).keys;

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
