import { types } from "node:util";
import { isTensor } from "./kernel/handles.js";
import { callSynchronously, checkFunction } from "./synchronous.js";
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
 * tidy() the returned ones belong to that. If `fn` throws, or a getter in what it returns, all are
 * disposed.
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
  checkFunction("tidy", fn);
  const outer = made;
  const own: Tensor[] = [];
  let returned = new Set<unknown>();
  made = own;
  try {
    const result = callSynchronously("tidy", fn);
    returned = tensorsIn(result);
    return result;
  } finally {
    made = outer;
    for (const tensor of own) {
      if (!returned.has(tensor)) tensor.dispose();
      else if (outer !== null) outer.push(tensor);
    }
  }
}

/** Every tensor in the value, and every object on the way to it. */
function tensorsIn(value: unknown): Set<unknown> {
  const seen = new Set<unknown>();
  const rest = [value]; // a list rather than calls, which deep nesting would make too many of
  while (rest.length > 0) {
    const item = rest.pop();
    if (typeof item !== "object" || item === null || seen.has(item)) continue;
    seen.add(item);
    if (isTensor(item) || ArrayBuffer.isView(item)) continue;
    if (types.isMap(item)) {
      for (const [key, held] of item) rest.push(key, held);
    } else {
      for (const held of types.isSet(item) ? item : Object.values(item)) rest.push(held);
    }
  }
  return seen;
}
