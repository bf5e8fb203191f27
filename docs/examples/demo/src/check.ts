import { CudaStream, type Device } from "@warpwright/runtime";
import { type FloatDType, ulpOf } from "@warpwright/testing";

/** The element that comes closest to what it is allowed, or is farthest beyond. */
export interface Comparison {
  /** Its difference from float64. */
  error: number;
  /** What it may differ. */
  allowed: number;
}

/**
 * Every element is allowed half an ulp for the one rounding of a 16-bit result, float32's error in
 * the arithmetic, and `slack`.
 */
export function compare(
  actual: Float64Array,
  expected: Float64Array,
  dtype: FloatDType,
  slack = 0,
): Comparison {
  const largest = expected.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  let worst: Comparison = { error: 0, allowed: Number.POSITIVE_INFINITY };
  for (let i = 0; i < expected.length; i++) {
    const y = expected[i]!;
    const rounding = dtype === "float32" ? 0 : 0.5 * ulpOf(dtype, y);
    const allowed = rounding + 6e-6 * Math.abs(y) + 5e-7 * largest + slack;
    worst = worseOf(worst, { error: Math.abs(actual[i]! - y), allowed });
  }
  return worst;
}

/** The one that uses more of what it is allowed; one that is NaN is the worst of all. */
export function worseOf(a: Comparison, b: Comparison): Comparison {
  return a.error / a.allowed >= b.error / b.allowed || Number.isNaN(a.error) ? a : b;
}

export function isRight({ error, allowed }: Comparison): boolean {
  return error <= allowed;
}

// Medians of windows of many calls: one call is shorter than what the clock and the queue cost.
export function time(call: () => unknown, device: Device): number {
  const [windows, windowMs] = [9, 5];
  const wait = () => {
    if (device !== "cpu") CudaStream.default(device).synchronizeSync();
  };
  const measure = (calls: number): number => {
    wait();
    const start = performance.now();
    for (let i = 0; i < calls; i++) call();
    wait();
    return (performance.now() - start) / calls;
  };
  measure(3); // warms up
  const calls = Math.max(1, Math.ceil(windowMs / measure(3)));
  const perCall = Array.from({ length: windows }, () => measure(calls));
  return 1e3 * perCall.sort((a, b) => a - b)[windows >> 1]!;
}
