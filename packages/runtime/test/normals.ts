// randn's generator in plain arithmetic, to compare its numbers with.

const multipliers = [0xd2511f53n, 0xcd9e8d57n] as const;
const increments = [0x9e3779b9n, 0xbb67ae85n] as const;
const mask = 0xffffffffn;

/** Philox4x32-10: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
export function philox(counter: readonly number[], key: readonly number[]): number[] {
  let [c0, c1, c2, c3] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map(BigInt) as [bigint, bigint];
  for (let round = 0; round < 10; round++) {
    const [product0, product1] = [multipliers[0] * c0, multipliers[1] * c2];
    [c0, c1, c2, c3] = [
      (product1 >> 32n) ^ c1 ^ k0,
      product1 & mask,
      (product0 >> 32n) ^ c3 ^ k1,
      product0 & mask,
    ];
    k0 = (k0 + increments[0]) & mask;
    k1 = (k1 + increments[1]) & mask;
  }
  return [c0, c1, c2, c3].map(Number);
}

/**
 * Box and Muller's formula of two words: cosine and sine, of which the angle is reduced to half a
 * quarter turn first, since Math.cos knows 2 pi no better than to the last bit.
 */
export function normalPair(word0: number, word1: number): [number, number] {
  const radius = Math.sqrt(-2 * logOf((word0 + 1) / 2 ** 32));
  const quarters = Math.round(word1 / 2 ** 30);
  const rest = (word1 - quarters * 2 ** 30) * ((2 * Math.PI) / 2 ** 32);
  const [cos, sin] = [Math.cos(rest), Math.sin(rest)];
  const turned: [number, number][] = [
    [cos, sin],
    [-sin, cos],
    [-cos, -sin],
    [sin, -cos],
  ];
  const [x, y] = turned[quarters % 4]!;
  return [radius * x, radius * y];
}

/** Near 1, Math.log1p: the difference from 1 is exact. */
function logOf(u: number): number {
  return u > 0.5 ? Math.log1p(u - 1) : Math.log(u);
}

/** The first `count` elements of a seed, unrounded. */
export function normals(seed: bigint, count: number): Float64Array {
  const key = [Number(seed & mask), Number((seed >> 32n) & mask)];
  const values = new Float64Array(Math.ceil(count / 4) * 4);
  for (let i = 0; i < count; i += 4) {
    const [w0, w1, w2, w3] = philox([i / 4, 0, 0, 0], key) as [number, number, number, number];
    values.set([...normalPair(w0, w1), ...normalPair(w2, w3)], i);
  }
  return values.slice(0, count);
}

/**
 * Probability of a standard normal number below x: Marsaglia, "Evaluating the normal distribution",
 * Journal of Statistical Software 11(4), 2004: 1/2 + phi(x) (x + x^3 / 3 + x^5 / (3 5) + ...).
 */
export function normalCdf(x: number): number {
  if (Math.abs(x) > 8) return x > 0 ? 1 : 0;
  let term = x;
  let sum = x;
  for (let n = 3; Math.abs(term) > 1e-17; n += 2) {
    term *= (x * x) / n;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
