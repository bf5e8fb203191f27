/** Choices that a seed repeats: splitmix with 32 bits of state. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An integer from 0 to 2^32 - 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  }

  /** An integer from 0 to count - 1. */
  below(count: number): number {
    return Math.floor((this.next() / 2 ** 32) * count);
  }

  /** An integer from low to high, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True in one of `n` cases. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** The first that fits, from a random place on; undefined if none does. */
  find<T>(list: readonly T[], fits: (item: T) => boolean): T | undefined {
    const start = list.length === 0 ? 0 : this.below(list.length);
    for (let i = 0; i < list.length; i++) {
      const item = list[(start + i) % list.length]!;
      if (fits(item)) return item;
    }
    return undefined;
  }
}
