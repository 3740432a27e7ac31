/** Shared by callers: the keys in use, and values that no call has written yet. */
import type { Random } from '../../../src/server/service/collections/random.ts';

/**
 * Keys are few, so that writers meet, and new again and again, so that what is lost is not written
 * over at once.
 */
const GENERATION_MS = 8_000;
const KEYS = 4;
/** Above it the binding keeps no value, but its hash. */
const LONG = 30;
const LONG_SHARE = 0.2;

export class KeyAllocator {
  readonly #sinceMs = performance.now();
  readonly #latest = new Map<string, string>();
  #values = 0;

  /** A key that all clients of a keyspace use. */
  shared(profile: string, kind: string, random: Random): string {
    return `${profile}/${kind}${this.#generation()}-${random.between(1, KEYS)}`;
  }

  /** A key that one caller alone uses. */
  own(profile: string, caller: string): string {
    return `${profile}/own${this.#generation()}-${caller}`;
  }

  /** A key that is written once. */
  fresh(profile: string): string {
    return `${profile}/once${this.number()}`;
  }

  number(): number {
    this.#values += 1;
    return this.#values;
  }

  value(random: Random): string {
    const value = `w${this.number()}`;
    return random.chance(LONG_SHARE) ? value.padEnd(LONG, '.') : value;
  }

  /** What is likely to be there: for conditions. */
  latest(key: string): string | undefined {
    return this.#latest.get(key);
  }

  wrote(key: string, value: string): void {
    this.#latest.set(key, value);
  }

  #generation(): number {
    return Math.floor((performance.now() - this.#sinceMs) / GENERATION_MS);
  }
}
