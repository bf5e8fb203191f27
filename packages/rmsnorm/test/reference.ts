import { type FloatDType, roundTo } from "@warpwright/testing";

export interface Reference {
  out: Float64Array;
  rstd: Float64Array;
  /** x + residual, rounded to the dtype; x where there is no residual. */
  sum: Float64Array;
}

export interface ReferenceOptions {
  eps?: number | undefined;
  weightOffset?: number | undefined;
  casting?: "float32" | "llama" | undefined;
  residual?: ArrayLike<number> | undefined;
}

/**
 * out = h * rstd * (weight + weightOffset), rstd = 1 / sqrt(mean(h²) + eps), in float64 from values
 * that the dtype holds; rounded only where the contract rounds in between, never at the end.
 */
export function rmsnormReference(
  x: ArrayLike<number>,
  weight: ArrayLike<number> | null,
  hiddenSize: number,
  dtype: FloatDType,
  { eps = 1e-6, weightOffset = 0, casting = "float32", residual }: ReferenceOptions = {},
): Reference {
  const llama = casting === "llama" && dtype !== "float32";
  const inner = (value: number) => (llama ? roundTo(dtype, value) : value);
  const scale = new Float64Array(hiddenSize).fill(1);
  if (weight) for (let i = 0; i < hiddenSize; i++) scale[i] = inner(weight[i]! + weightOffset);
  const sum = new Float64Array(x);
  if (residual) {
    for (let i = 0; i < sum.length; i++)
      sum[i] = roundTo(dtype, Math.fround(sum[i]! + residual[i]!));
  }
  const numRows = x.length / hiddenSize;
  const out = new Float64Array(x.length);
  const rstd = new Float64Array(numRows);
  for (let row = 0; row < numRows; row++) {
    const begin = row * hiddenSize;
    let squares = 0;
    for (let i = 0; i < hiddenSize; i++) squares += sum[begin + i]! ** 2;
    rstd[row] = 1 / Math.sqrt(squares / hiddenSize + eps);
    for (let i = 0; i < hiddenSize; i++) {
      out[begin + i] = inner(sum[begin + i]! * rstd[row]!) * scale[i]!;
    }
  }
  return { out, rstd, sum };
}
