export interface ReferenceOptions {
  rotaryDim: number;
  rotaryOffset?: number | undefined;
  interleaved?: boolean | undefined;
  inverse?: boolean | undefined;
}

/**
 * One head of one token: each pair (a, b) of the rotary range becomes
 * (a cos - b sin, b cos + a sin), in float64 from values that the dtypes hold, not rounded.
 * `cos` and `sin` are the row of the token's position, or null where that is outside the tables.
 */
export function ropeReference(
  head: ArrayLike<number>,
  cos: ArrayLike<number> | null,
  sin: ArrayLike<number> | null,
  { rotaryDim, rotaryOffset = 0, interleaved = false, inverse = false }: ReferenceOptions,
): Float64Array {
  const out = Float64Array.from(head);
  if (cos === null || sin === null) return out;
  for (let i = 0; i < rotaryDim / 2; i++) {
    const first = rotaryOffset + (interleaved ? 2 * i : i);
    const second = interleaved ? first + 1 : first + rotaryDim / 2;
    const [a, b] = [head[first]!, head[second]!];
    const s = inverse ? -sin[i]! : sin[i]!;
    out[first] = a * cos[i]! - b * s;
    out[second] = b * cos[i]! + a * s;
  }
  return out;
}

/** The position of each token in its sequence; null for a token behind the last one's end. */
export function positionsIn(cuSeqlens: readonly number[], tokens: number): (number | null)[] {
  const positions = new Array<number | null>(tokens).fill(null);
  for (let sequence = 0; sequence + 1 < cuSeqlens.length; sequence++) {
    const [begin, end] = [cuSeqlens[sequence]!, cuSeqlens[sequence + 1]!];
    for (let token = begin; token < end; token++) positions[token] = token - begin;
  }
  return positions;
}
