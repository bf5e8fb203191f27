/** x * sigmoid(beta * x) of one number, in float64; never rounded. */
export function newKernelReference(x: number, { beta = 1 }: { beta?: number } = {}): number {
  const scaled = beta * x;
  // Whichever exponential does not overflow.
  return scaled < 0 ? (x * Math.exp(scaled)) / (1 + Math.exp(scaled)) : x / (1 + Math.exp(-scaled));
}
