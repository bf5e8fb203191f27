import { describe, isPromise } from "./describe.js";
import { kindError } from "./errors.js";

/**
 * What `fn` returns, if that is no promise: what holds while `fn` runs would not hold while its
 * promise goes on.
 *
 * @param refusal makes the error for a promise. Default: TypeError ERR_KIND
 */
export function callSynchronously<T>(
  op: string,
  fn: () => T,
  refusal: (message: string) => Error = kindError,
): T {
  const result = fn();
  if (!isPromise(result)) return result;
  // It may fail on what has ended here; the error thrown now is the one to see.
  result.then(undefined, () => {});
  throw refusal(`${op}: expected fn to return its result, got a promise`);
}

/** Checks that `fn` is a function. */
export function checkFunction(op: string, fn: unknown): void {
  if (typeof fn === "function") return;
  throw kindError(`${op}: expected fn to be a function, got ${describe(fn)}`);
}
