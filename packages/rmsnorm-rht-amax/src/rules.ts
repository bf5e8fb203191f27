// The rules of cuDNN frontend's RmsNormRhtAmaxSm100 (v1.23, python/cudnn/rmsnorm_rht_amax/api.py),
// by which programs that come from it size amax and choose numThreads.
import { checkFinite, valueError } from "@warpwright/runtime/kernel";

/** Columns that are transformed together. */
export const blockSize = 16;

// Chosen by measurement there, and taken before the search.
const tabulatedThreads: ReadonlyMap<number, number> = new Map([
  [2048, 128],
  [4096, 256],
  [7168, 128],
  [8192, 512],
  [16384, 1024],
  [32768, 512],
]);

const searchedThreads = [1024, 512, 256, 128, 64] as const;
const searchedRows = [8, 4, 2] as const;

// Multiprocessors of a B200. Not those of the device at hand: the shape of amax follows from it.
const leastGroups = 148;

const warpSize = 32;
const maxThreads = 1024;
// A thread's columns come 16 bytes of a 16-bit dtype at a time.
const columnsAtATime = 8;

function sharesEvenly(n: number, threads: number): boolean {
  return n > 0 && n % (columnsAtATime * threads) === 0;
}

/**
 * The threads that cuDNN frontend's search finds for rows of `n` columns: the most of 1024, 512,
 * 256, 128 and 64 that leave each thread a multiple of 8 columns. `RmsnormRhtAmax` asks its table
 * first, as there.
 *
 * @returns undefined where there are none: where 512 does not divide n
 * @throws TypeError ERR_KIND; RangeError ERR_VALUE
 *
 * @example
 * import { bestNumThreads } from "@warpwright/rmsnorm-rht-amax";
 *
 * console.log(bestNumThreads(3072), bestNumThreads(768)); // 128 undefined
 */
export function bestNumThreads(n: number): number | undefined {
  checkFinite("bestNumThreads", "n", n, { min: 0, integer: true });
  return searchedThreads.find((threads) => sharesEvenly(n, threads));
}

/** What cuDNN frontend runs rows of `n` columns with, if nothing is asked for. */
export function defaultNumThreads(n: number): number | undefined {
  return tabulatedThreads.get(n) ?? bestNumThreads(n);
}

/**
 * The rows that share an amax by default, out of `m`: the most of 8, 4 and 2 that divide m and
 * leave 148 groups or more, otherwise 2; of an odd number 1.
 *
 * @throws TypeError ERR_KIND; RangeError ERR_VALUE
 *
 * @example
 * import { pickRowsPerCta } from "@warpwright/rmsnorm-rht-amax";
 *
 * console.log(pickRowsPerCta(16384), pickRowsPerCta(256), pickRowsPerCta(7)); // 8 2 1
 */
export function pickRowsPerCta(m: number): number {
  checkFinite("pickRowsPerCta", "m", m, { min: 0, integer: true });
  if (m % 2 === 1) return 1;
  return searchedRows.find((rows) => m % rows === 0 && m / rows >= leastGroups) ?? 2;
}

/** Checks an explicit number of threads for rows of `n` columns. */
export function checkNumThreads(op: string, numThreads: number, n: number): void {
  checkFinite(op, "numThreads", numThreads, { min: 1, integer: true });
  if (numThreads % warpSize !== 0 || numThreads > maxThreads) {
    throw valueError(
      `${op}: expected numThreads to be a multiple of ${warpSize} up to ${maxThreads}, ` +
        `got ${numThreads}`,
    );
  }
  if (sharesEvenly(n, numThreads)) return;
  throw valueError(
    `${op}: expected ${n} columns to give each of numThreads a multiple of ${columnsAtATime}, ` +
      `got ${numThreads}`,
  );
}

/** Checks an explicit number of rows for each amax. */
export function checkRowsPerCta(op: string, rowsPerCta: number, numRows: number): void {
  checkFinite(op, "rowsPerCta", rowsPerCta, { min: 1, integer: true });
  if (numRows % rowsPerCta === 0) return;
  throw valueError(`${op}: expected rowsPerCta to divide the ${numRows} rows, got ${rowsPerCta}`);
}
