/**
 * Keys whose entries must not be shown, because a write has changed them and the cache has not
 * confirmed that it dropped them.
 */
import type { Clock } from '../../../correctable/clock.ts';

const MAX_KEYS = 10_000;

/** One drop of a key. */
export interface Drop {
  /** Until when the cache can have an entry from before. */
  readonly untilMs: number;
}

export class DroppedKeys {
  readonly #clock: Clock;
  /** How long an entry can be in the cache. */
  readonly #ttlMs: number;
  /** The latest drop of each key. The oldest first. */
  readonly #drops = new Map<string, Drop>();
  /** Until when any key can have an entry from before. */
  #allUntilMs = -Infinity;

  constructor(clock: Clock, ttlMs: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  has(key: string): boolean {
    const untilMs = this.#drops.get(key)?.untilMs ?? -Infinity;
    return this.#clock.now() <= Math.max(this.#allUntilMs, untilMs);
  }

  add(key: string): Drop {
    const drop = { untilMs: this.#clock.now() + this.#ttlMs };
    this.#drops.delete(key); // to the end
    this.#drops.set(key, drop);
    this.#dropExpired();
    if (this.#drops.size > MAX_KEYS) this.addAll();
    return drop;
  }

  /** No entry may be shown until all from before have expired. */
  addAll(): void {
    this.#allUntilMs = this.#clock.now() + this.#ttlMs;
    this.#drops.clear();
  }

  /** The cache has done `drop`. Without it, the key has a new entry. */
  delete(key: string, drop?: Drop): void {
    if (drop === undefined || this.#drops.get(key) === drop) this.#drops.delete(key);
  }

  #dropExpired(): void {
    const nowMs = this.#clock.now();
    for (const [key, { untilMs }] of this.#drops) {
      if (untilMs >= nowMs) return;
      this.#drops.delete(key);
    }
  }
}
