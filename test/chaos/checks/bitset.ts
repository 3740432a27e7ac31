/** A set of small numbers, quick to compare. */
const WIDTH = 32;

export class Bits {
  readonly #words: Uint32Array;

  constructor(size: number) {
    this.#words = new Uint32Array(Math.ceil(size / WIDTH));
  }

  add(at: number): void {
    const word = Math.floor(at / WIDTH);
    this.#words[word] = ((this.#words[word] ?? 0) | (1 << (at % WIDTH))) >>> 0;
  }

  has(at: number): boolean {
    return ((this.#words[Math.floor(at / WIDTH)] ?? 0) & (1 << (at % WIDTH))) !== 0;
  }

  addAll(other: Bits): void {
    for (const [n, word] of other.#words.entries())
      this.#words[n] = ((this.#words[n] ?? 0) | word) >>> 0;
  }

  copy(): Bits {
    const copy = new Bits(this.#words.length * WIDTH);
    copy.#words.set(this.#words);
    return copy;
  }

  /** The first number that is here and not there. */
  firstBeyond(other: Bits): number | undefined {
    for (const [n, word] of this.#words.entries()) {
      const beyond = (word & ~(other.#words[n] ?? 0)) >>> 0;
      if (beyond !== 0) return n * WIDTH + (WIDTH - 1 - Math.clz32(beyond));
    }
    return undefined;
  }
}
