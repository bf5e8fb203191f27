export interface Reference {
  out: Float64Array;
  inverse: Float64Array;
}

/** out = x * inverse, inverse = 1 / sqrt(sum(x²) + eps) of each row, in float64; never rounded. */
export function newKernelReference(
  x: ArrayLike<number>,
  hiddenSize: number,
  { eps = 1e-6 }: { eps?: number | undefined } = {},
): Reference {
  const numRows = x.length / hiddenSize;
  const out = new Float64Array(x.length);
  const inverse = new Float64Array(numRows);
  for (let row = 0; row < numRows; row++) {
    const begin = row * hiddenSize;
    let squares = 0;
    for (let i = 0; i < hiddenSize; i++) squares += x[begin + i]! ** 2;
    inverse[row] = 1 / Math.sqrt(squares + eps);
    for (let i = 0; i < hiddenSize; i++) out[begin + i] = x[begin + i]! * inverse[row]!;
  }
  return { out, inverse };
}
