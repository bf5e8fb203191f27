import { dtypeBytes } from "../dtypes.js";
import { overlapError } from "../errors.js";
import { STORAGE } from "../internals.js";
import { reach, sameNumbers } from "../layout.js";
import type { Tensor } from "../tensor.js";

/** What checkOverlap lets pass beside memory that is disjoint. */
export interface OverlapRule {
  /** Whether the output may be exactly the input: same memory, shape, strides and dtype. */
  exact: boolean;
}

/**
 * Checks that an output shares no memory with an input, or is exactly that input where the kernel
 * allows it. Two pieces of one tensor pass where the strides prove them disjoint, as those of two
 * chunks do.
 *
 * @throws RangeError ERR_OVERLAP
 *
 * @example
 * import { zeros } from "@warpwright/runtime";
 * import { checkOverlap } from "@warpwright/runtime/kernel";
 *
 * const [out, x] = zeros([4, 8]).chunk(2, -1);
 * checkOverlap("gelu", "out", out!, "x", x!, { exact: true });
 */
export function checkOverlap(
  op: string,
  outName: string,
  out: Tensor,
  inName: string,
  input: Tensor,
  rule: OverlapRule,
): void {
  if (out[STORAGE] !== input[STORAGE]) return;
  if (rule.exact && sameView(out, input)) return;
  if (disjoint(out, input)) return;
  throw overlapError(
    `${op}: expected ${outName} to share no memory with ${inName}` +
      `${rule.exact ? ", or to be exactly it" : ""}, got views that overlap`,
  );
}

/** Whether two tensors are the same elements in the same order. */
export function sameView(a: Tensor, b: Tensor): boolean {
  if (a === b) return true;
  if (a[STORAGE] !== b[STORAGE] || a.dtype !== b.dtype || a.offset !== b.offset) return false;
  if (!sameNumbers(a.shape, b.shape)) return false;
  for (let i = 0; i < a.shape.length; i++) {
    // The stride of a dimension of one element is never used.
    if (a.strides[i] !== b.strides[i] && a.shape[i]! > 1) return false;
  }
  return true;
}

/** Whether two views of one storage provably share no byte. */
export function disjoint(a: Tensor, b: Tensor): boolean {
  if (a.size === 0 || b.size === 0) return true;
  const [widthA, widthB] = [dtypeBytes(a.dtype), dtypeBytes(b.dtype)];
  const ahead = b.offset * widthB - a.offset * widthA;
  if (ahead >= reach(a) * widthA || -ahead >= reach(b) * widthB) return true;

  // Both repeat an interval of bytes, that of the dimensions from `inner` on, at multiples of the
  // greatest divisor of the outer strides: they are disjoint if the two intervals are within it.
  const rank = a.shape.length;
  if (b.shape.length !== rank) return false;
  for (let inner = rank - 1; inner > 0; inner--) {
    const period = outerDivisor(b, inner, widthB, outerDivisor(a, inner, widthA, 0));
    if (period === 0) continue;
    const start = ((ahead % period) + period) % period;
    const [spanA, spanB] = [span(a, inner) * widthA, span(b, inner) * widthB];
    if (start >= spanA && start + spanB <= period) return true;
  }
  return false;
}

// Elements from the first to just behind the last along the dimensions from `inner` on.
function span({ shape, strides }: Tensor, inner: number): number {
  let last = 0;
  for (let i = inner; i < shape.length; i++) last += (shape[i]! - 1) * strides[i]!;
  return last + 1;
}

// Greatest divisor of `divisor` and the byte strides of the dimensions before `inner` that are
// stepped along at all; 0 is divided by everything.
function outerDivisor(
  { shape, strides }: Tensor,
  inner: number,
  width: number,
  divisor: number,
): number {
  let common = divisor;
  for (let i = 0; i < inner; i++) {
    let step = shape[i]! > 1 ? strides[i]! * width : 0;
    while (step !== 0) [common, step] = [step, common % step];
  }
  return common;
}
