export interface ReferenceOptions {
  eps?: number | undefined;
  rowsPerCta?: number | undefined;
  signs?: number | undefined;
  nan?: "propagate" | "ignore" | undefined;
}

export interface Reference {
  /** Not rounded. */
  out: Float64Array;
  amax: Float64Array;
}

/**
 * out = H16 (x rstd weight, negated where signs says) / 4 on each 16 columns of each row, rstd =
 * 1 / sqrt(mean(x²) + eps); amax = the largest |out| of each `rowsPerCta` rows. In float64.
 */
export function rmsnormRhtAmaxReference(
  x: ArrayLike<number>,
  weight: ArrayLike<number>,
  { eps = 1e-5, rowsPerCta = 1, signs = 0, nan = "propagate" }: ReferenceOptions = {},
): Reference {
  const hiddenSize = weight.length;
  const numRows = x.length / hiddenSize;
  const out = new Float64Array(x.length);
  const amax = new Float64Array(numRows / rowsPerCta);
  for (let row = 0; row < numRows; row++) {
    const begin = row * hiddenSize;
    let squares = 0;
    for (let i = 0; i < hiddenSize; i++) squares += x[begin + i]! ** 2;
    const rstd = 1 / Math.sqrt(squares / hiddenSize + eps);
    const y = new Float64Array(hiddenSize);
    for (let i = 0; i < hiddenSize; i++) {
      const sign = (signs >> (i % 16)) & 1 ? -1 : 1;
      y[i] = sign * x[begin + i]! * rstd * weight[i]!;
    }
    const group = Math.floor(row / rowsPerCta);
    for (let i = 0; i < hiddenSize; i++) {
      const value = transformed(y, i);
      out[begin + i] = value;
      if (Number.isNaN(value) && nan === "ignore") continue;
      amax[group] = Math.max(amax[group]!, Math.abs(value)); // NaN propagates
    }
  }
  return { out, amax };
}

/** Sylvester's matrix, 16 rows of 16 one after another, by its formula. */
const matrix = Float64Array.from({ length: 256 }, (_, i) =>
  hasOddBits((i >> 4) & i & 15) ? -1 : 1,
);

/** Column i of the transform: the product with a row of the matrix. */
function transformed(y: Float64Array, i: number): number {
  const first = i - (i % 16);
  const row = 16 * (i % 16);
  let sum = 0;
  for (let j = 0; j < 16; j++) sum += matrix[row + j]! * y[first + j]!;
  return sum / 4;
}

function hasOddBits(bits: number): boolean {
  let odd = false;
  for (let rest = bits; rest > 0; rest >>= 1) if (rest & 1) odd = !odd;
  return odd;
}
