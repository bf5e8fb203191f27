// Enough to keep a disk and the link busy across thousands of small tensors.
const maxCount = 32;

// What tensors that are converted may take together before their copies are made, unless one takes
// more by itself.
const maxConvertedBytes = 64 * 2 ** 20;

/** Tensors that are being loaded at the same time, bounded in number and in memory. */
export class InFlight {
  #count = 0;
  #convertedBytes = 0;
  #failed = false;
  #error: unknown;
  #wake = (): void => {};

  /**
   * Starts loading one as soon as there is room; rejects once one has failed.
   *
   * @param convertedBytes what it takes until it is converted; 0 if it stays as stored
   */
  async add(convertedBytes: number, load: () => Promise<void>): Promise<void> {
    while (!this.#hasRoom(convertedBytes)) await this.#change();
    this.#check();
    this.#count++;
    this.#convertedBytes += convertedBytes;
    load()
      .catch((error: unknown) => {
        if (!this.#failed) this.#error = error;
        this.#failed = true;
      })
      .finally(() => {
        this.#count--;
        this.#convertedBytes -= convertedBytes;
        this.#wake();
      });
  }

  /** Waits until none is under way, whether they fail or not. */
  async settle(): Promise<void> {
    while (this.#count > 0) await this.#change();
  }

  /** Waits for all; rejects with the first failure. */
  async finish(): Promise<void> {
    await this.settle();
    this.#check();
  }

  #hasRoom(bytes: number): boolean {
    if (this.#count >= maxCount) return false;
    const converted = this.#convertedBytes;
    return bytes === 0 || converted === 0 || converted + bytes <= maxConvertedBytes;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #check(): void {
    if (this.#failed) throw this.#error;
  }
}
