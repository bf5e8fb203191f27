// Choices for a test of combinations that nobody chose; the seed, which its name has, repeats them.
export class Draw {
  #count = 0;

  constructor(readonly seed: number) {}

  /** An integer from 0 to end - 1. */
  below(end: number): number {
    this.#count += 1;
    let bits = Math.imul(this.seed, 0x9e3779b1) ^ Math.imul(this.#count, 0x85ebca6b);
    for (const factor of [0x21f0aaad, 0x735a2d97]) bits = Math.imul(bits ^ (bits >>> 15), factor);
    return ((bits ^ (bits >>> 15)) >>> 0) % end;
  }

  /** True in one of n cases. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
}

/** 1 to count, for `test.each`. */
export function seeds(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}
