// What a tensor is, and the handle that it has.
import { types } from "node:util";
import { describe, isPromise } from "../describe.js";
import { disposedError, kindError } from "../errors.js";
import { type Branded, HANDLE } from "../internals.js";
import { isOwn } from "../making.js";
import type { Handle } from "../native.js";
import type { Tensor } from "../tensor.js";

/**
 * The native handle of a tensor, of this copy of the runtime or another.
 *
 * @throws TypeError ERR_KIND; Error ERR_DISPOSED
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { handleOf } from "@warpwright/runtime/kernel";
 *
 * const handle = handleOf(tensor([1, 2])); // what addons unwrap
 */
export function handleOf(tensor: Tensor): Handle {
  const handle = handleIn(tensor);
  if (handle) return handle;
  if (handle === null) throw disposedError("handleOf: the tensor has been disposed");
  throw kindError(`handleOf: expected a Tensor, got ${describe(tensor)}`);
}

/**
 * handleOf, or null for a tensor that is left out.
 *
 * @throws TypeError ERR_KIND; Error ERR_DISPOSED
 *
 * @example
 * import { optionalHandle } from "@warpwright/runtime/kernel";
 *
 * optionalHandle(null); // null
 */
export function optionalHandle(tensor: Tensor | null): Handle | null {
  return tensor === null ? null : handleOf(tensor);
}

/** Whether the value is a tensor of this copy of the runtime or another, disposed or not. */
export function isTensor(value: unknown): value is Tensor {
  return handleIn(value) !== undefined;
}

/**
 * Checks that the value is a Tensor that has not been disposed. A proxy of one is not: its traps
 * would run in the middle of calls.
 *
 * @throws TypeError ERR_KIND; Error ERR_DISPOSED
 *
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { checkTensor } from "@warpwright/runtime/kernel";
 *
 * checkTensor("rmsnorm", "x", tensor([1, 2]));
 */
export function checkTensor(op: string, name: string, value: unknown): asserts value is Tensor {
  const handle = handleIn(value);
  if (handle) return;
  if (handle === null) throw disposedError(`${op}: ${name} has been disposed`);
  const remedy = isPromise(value) ? "; await it first" : "";
  const found = describe(value) === "a Tensor" ? "one without memory" : describe(value);
  throw kindError(`${op}: expected ${name} to be a Tensor, got ${found}${remedy}`);
}

/** The tensor's handle; null once disposed, undefined for what is no tensor. */
function handleIn(value: unknown): Handle | null | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isOwn(value)) return value[HANDLE];
  // Another copy's, then; neither a proxy nor an object that merely inherits from a tensor.
  if (types.isProxy(value) || !Object.hasOwn(value, HANDLE)) return undefined;
  return (value as Branded)[HANDLE];
}
