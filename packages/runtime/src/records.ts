import { types } from "node:util";
import { isArray, isPromise } from "./describe.js";
import { type Branded, STREAM } from "./internals.js";
import { isTensor } from "./kernel/handles.js";

/**
 * Whether the value is an object for the sake of its properties: a plain one, or one of a class
 * that adds them. Maps, promises, dates, arrays and the like are not: what they hold is elsewhere,
 * and would be overlooked.
 */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === Object.prototype || prototype === null || !holdsMore(value);
  } catch {
    return false; // a proxy that has been revoked
  }
}

function holdsMore(value: object): boolean {
  return (
    isArray(value) ||
    isPromise(value) ||
    isTensor(value) ||
    (value as Branded)[STREAM] !== undefined ||
    ArrayBuffer.isView(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isWeakMap(value) ||
    types.isWeakSet(value) ||
    types.isDate(value) ||
    types.isRegExp(value) ||
    types.isBoxedPrimitive(value) ||
    types.isAnyArrayBuffer(value) ||
    types.isGeneratorObject(value) ||
    types.isNativeError(value)
  );
}
