import { type FloatDType, roundTo } from "@warpwright/testing";

export interface Reference {
  out: Float64Array;
  mean: Float64Array;
  rstd: Float64Array;
  /** x + residual, rounded to the dtype; x where there is no residual. */
  sum: Float64Array;
}

export interface ReferenceOptions {
  weight?: ArrayLike<number> | null | undefined;
  bias?: ArrayLike<number> | null | undefined;
  residual?: ArrayLike<number> | undefined;
  eps?: number | undefined;
}

/**
 * out = (h - mean(h)) * rstd * weight + bias, rstd = 1 / sqrt(var(h) + eps), in float64 from values
 * that the dtype holds; only the sum with a residual is rounded.
 */
export function layernormReference(
  x: ArrayLike<number>,
  hiddenSize: number,
  dtype: FloatDType,
  { weight, bias, residual, eps = 1e-5 }: ReferenceOptions = {},
): Reference {
  const sum = new Float64Array(x);
  if (residual) {
    for (let i = 0; i < sum.length; i++) {
      sum[i] = roundTo(dtype, Math.fround(sum[i]! + residual[i]!));
    }
  }
  const numRows = x.length / hiddenSize;
  const [mean, rstd] = [new Float64Array(numRows), new Float64Array(numRows)];
  const out = new Float64Array(x.length);
  for (let row = 0; row < numRows; row++) {
    const h = sum.subarray(row * hiddenSize, (row + 1) * hiddenSize);
    mean[row] = average(h, (value) => value);
    rstd[row] = 1 / Math.sqrt(average(h, (value) => (value - mean[row]!) ** 2) + eps);
    for (let i = 0; i < hiddenSize; i++) {
      const y = (h[i]! - mean[row]!) * rstd[row]!;
      out[row * hiddenSize + i] = y * (weight?.[i] ?? 1) + (bias?.[i] ?? 0);
    }
  }
  return { out, mean, rstd, sum };
}

function average(values: Float64Array, of: (value: number) => number): number {
  let total = 0;
  for (const value of values) total += of(value);
  return total / values.length;
}
