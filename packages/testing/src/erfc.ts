/**
 * The complementary error function in float64, to about 1e-14 of itself also where it is small: for
 * references of GELU.
 *
 * @example
 * import { erfc } from "@warpwright/testing";
 *
 * erfc(5); // 1.5374597944280349e-12, where 1 - erf(5) has lost most of it
 */
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
