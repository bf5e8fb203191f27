/** sigmoid(gate) * up of one pair, in float64; never rounded. */
export function newKernelReference(gate: number, up: number): number {
  // Whichever exponential does not overflow.
  const power = Math.exp(-Math.abs(gate));
  return ((gate < 0 ? power : 1) / (1 + power)) * up;
}
