/** Seeded randomness: a run is a function of its seed. */

/** Seeds are unsigned 32-bit numbers. */
export const MAX_SEED = 2 ** 32 - 1;

/**
 * Returns the largest seed that the first run may have. The seeds of the other runs follow from it.
 */
export function getMaxFirstSeed(runs: number): number {
  return MAX_SEED - runs + 1;
}

/** A generator of random numbers (Mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** An unsigned 32-bit number. */
  bits(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) >>> 0;
  }

  /** A number in [0, 1). */
  fraction(): number {
    return this.bits() / 2 ** 32;
  }

  /** An integer in [min, max]. */
  between(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** An exponentially distributed number with this mean: mostly small, sometimes large. */
  exponential(mean: number): number {
    return -Math.log(1 - this.fraction()) * mean;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.between(0, choices.length - 1)] as T;
  }
}
