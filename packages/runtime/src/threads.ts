import { checkSize } from "./arguments.js";
import { valueError } from "./errors.js";
import { maxThreads, native } from "./native.js";

/**
 * Sets how many threads work on the CPU, in all kernels of the process together. At the start it is
 * WARPWRIGHT_NUM_THREADS, else os.availableParallelism().
 *
 * @param count 1 to 1024
 * @throws TypeError ERR_KIND; RangeError ERR_VALUE
 *
 * @example
 * import { getNumThreads, setNumThreads } from "@warpwright/runtime";
 *
 * setNumThreads(2);
 * console.log(getNumThreads()); // 2
 */
export function setNumThreads(count: number): void {
  checkSize("setNumThreads", `count to be an integer from 1 to ${maxThreads}`, count, 1);
  if (count > maxThreads) {
    throw valueError(
      `setNumThreads: expected count to be an integer from 1 to ${maxThreads}, got ${count}`,
    );
  }
  native().setNumThreads(count);
}

/**
 * How many threads work on the CPU.
 *
 * @example
 * import { getNumThreads } from "@warpwright/runtime";
 *
 * console.log(getNumThreads());
 */
export function getNumThreads(): number {
  return native().getNumThreads();
}
