import { erfc } from "@warpwright/testing";

/** Each is an instance of the kernel of its own. */
export const approximations = ["none", "tanh", "quick"] as const;

export type Approximate = (typeof approximations)[number];

/** GELU of one element in float64, not rounded; the forms that do not cancel for negative x. */
export function geluReference(x: number, approximate: Approximate = "none"): number {
  if (approximate === "none") return (x * erfc(-x / Math.SQRT2)) / 2;
  if (approximate === "quick") return x / (1 + Math.exp(-1.702 * x));
  const argument = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);
  return x / (1 + Math.exp(-2 * argument)); // x * (1 + tanh) / 2
}
