import { erfc } from "@warpwright/testing";

export type Approximate = "none" | "tanh" | "quick";

/** GELU of one element in float64, not rounded; the forms that do not cancel for negative x. */
export function geluReference(x: number, approximate: Approximate = "none"): number {
  if (approximate === "none") return (x * erfc(-x / Math.SQRT2)) / 2;
  if (approximate === "quick") return x / (1 + Math.exp(-1.702 * x));
  const argument = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);
  return x / (1 + Math.exp(-2 * argument)); // x * (1 + tanh) / 2
}
