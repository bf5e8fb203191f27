// GELU in float64, for gelu and geglu.

/** Twice the share of the distribution of exp(-x²) / sqrt(π) beyond x, to about 1e-14 of itself. */
export function erfc(x: number): number {
  if (x < 0) return 2 - erfc(-x);
  const density = Math.exp(-x * x) / Math.sqrt(Math.PI);
  if (x < 2) {
    // erf as a series of positive terms (Abramowitz and Stegun 7.1.6), so that nothing cancels.
    let term = 2 * x;
    let sum = 0;
    for (let n = 1; sum + term !== sum; n++) {
      sum += term;
      term *= (2 * x * x) / (2 * n + 1);
    }
    return 1 - density * sum;
  }
  // The continued fraction (7.1.14), from a term on that no longer counts.
  let fraction = x;
  for (let n = 120; n > 0; n--) fraction = x + n / 2 / fraction;
  return density / fraction;
}

export type Approximate = "none" | "tanh" | "quick";

export function geluReference(x: number, approximate: Approximate = "none"): number {
  if (approximate === "none") return (x * erfc(-x / Math.SQRT2)) / 2;
  if (approximate === "quick") return x / (1 + Math.exp(-1.702 * x));
  const argument = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);
  return x / (1 + Math.exp(-2 * argument)); // x * (1 + tanh) / 2 without its cancellation
}
