// The two 16-bit formats in plain arithmetic, to compare conversions with.

export interface Half {
  exponentBits: number;
  fractionBits: number;
}

export const float16: Half = { exponentBits: 5, fractionBits: 10 };
export const bfloat16: Half = { exponentBits: 8, fractionBits: 7 };

/** The number that a bit pattern stands for. */
export function numberOf(bits: number, { exponentBits, fractionBits }: Half): number {
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> fractionBits) & ((1 << exponentBits) - 1);
  const fraction = (bits & ((1 << fractionBits) - 1)) / (1 << fractionBits);
  const bias = (1 << (exponentBits - 1)) - 1;
  if (exponent === (1 << exponentBits) - 1) return fraction === 0 ? sign * Infinity : NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - bias);
  return sign * (1 + fraction) * 2 ** (exponent - bias);
}

/** The pattern nearest to a number, the even one of two that are as near. */
export function nearest(value: number, half: Half): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const infinity = ((1 << half.exponentBits) - 1) << half.fractionBits;
  if (Number.isNaN(value)) return sign | infinity | (1 << (half.fractionBits - 1));
  const size = Math.abs(value);
  let low = 0; // patterns of positive numbers are in the order of the numbers
  let high = infinity;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (numberOf(middle, half) <= size) low = middle;
    else high = middle;
  }
  if (size >= numberOf(infinity, half)) return sign | infinity;
  // Infinity takes the place of the number that would follow the largest.
  const above = high === infinity ? 2 ** (1 << (half.exponentBits - 1)) : numberOf(high, half);
  const below = numberOf(low, half);
  const toLow = size - below;
  const toHigh = above - size;
  if (toLow === toHigh) return sign | (low % 2 === 0 ? low : high);
  return sign | (toLow < toHigh ? low : high);
}
