import { describe, isPromise } from "./describe.js";
import { kindError } from "./errors.js";
import { isTensor } from "./kernel/checks.js";
import type { Tensor } from "./tensor.js";

// The tensors made since the innermost tidy() began; null outside any.
let made: Tensor[] | null = null;

/** Notes a new tensor for the tidy() that is running, if one is. */
export function noteTensor(tensor: Tensor): void {
  if (made !== null) made.push(tensor);
}

/**
 * Runs `fn` and disposes every tensor that was made meanwhile, except those that it returns: a
 * tensor, or any nesting of arrays, Maps, Sets and objects with tensors in them. Within another
 * tidy() the returned ones belong to that. If `fn` throws, all are disposed.
 *
 * @throws TypeError ERR_KIND if fn is no function or returns a promise, whose tensors could not be
 *   told from others'
 *
 * @example
 * import { ones, tidy } from "@warpwright/runtime";
 *
 * const row = tidy(() => ones([4, 4]).narrow(0, 0, 1).clone()); // only the clone is left
 */
export function tidy<T>(fn: () => T): T {
  if (typeof fn !== "function") {
    throw kindError(`tidy: expected fn to be a function, got ${describe(fn)}`);
  }
  const outer = made;
  const own: Tensor[] = [];
  made = own;
  let result: T;
  try {
    result = fn();
  } catch (error) {
    disposeAll(own);
    throw error;
  } finally {
    made = outer;
  }
  if (isPromise(result)) {
    disposeAll(own);
    // It now fails on its disposed tensors; the error thrown here is the one to see.
    result.then(undefined, () => {});
    throw kindError("tidy: expected fn to return its result, got a promise");
  }

  const returned = new Set<unknown>();
  collect(result, returned);
  for (const tensor of own) {
    if (!returned.has(tensor)) tensor.dispose();
    else if (outer !== null) outer.push(tensor);
  }
  return result;
}

function disposeAll(tensors: readonly Tensor[]): void {
  for (const tensor of tensors) tensor.dispose();
}

function collect(value: unknown, seen: Set<unknown>): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (isTensor(value) || ArrayBuffer.isView(value)) return;
  if (value instanceof Map) {
    for (const [key, item] of value) {
      collect(key, seen);
      collect(item, seen);
    }
    return;
  }
  for (const item of value instanceof Set ? value : Object.values(value)) collect(item, seen);
}
