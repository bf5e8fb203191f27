export interface ReferenceOptions {
  limit?: number | undefined;
  alpha?: number | undefined;
  upOffset?: number | undefined;
}

/**
 * gate * sigmoid(alpha * gate) * (up + upOffset) of one pair, in float64, gate clamped from above
 * at the limit and up from both sides; never rounded.
 */
export function swigluReference(
  gate: number,
  up: number,
  { limit = Infinity, alpha = 1, upOffset = 0 }: ReferenceOptions = {},
): number {
  const g = Math.min(gate, limit);
  const u = Math.min(Math.max(up, -limit), limit);
  return g * sigmoid(alpha * g) * (u + upOffset);
}

/** Whichever exponential does not overflow. */
function sigmoid(x: number): number {
  return x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x));
}
