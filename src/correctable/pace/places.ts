/** The places of a pace: an update has one while it is under way, and it is not taken again before its turn is over. */
import type { Pace } from './unseen.ts';

export class Places {
  readonly #turnMs: number;
  #free: number;
  /** When each place that nobody has may be taken again, the next one first. */
  readonly #resting: number[] = [];

  constructor({ window, turnMs }: Pace) {
    this.#free = window;
    this.#turnMs = turnMs;
  }

  /** Takes a place if there is one. */
  take(nowMs: number): boolean {
    this.#followClock(nowMs);
    while ((this.#resting[0] ?? Infinity) <= nowMs) {
      this.#resting.shift();
      this.#free += 1;
    }
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Gives back a place that was taken at `takenAtMs`. */
  leave(takenAtMs: number, nowMs: number): void {
    const freeAtMs = Math.min(takenAtMs, nowMs) + this.#turnMs;
    if (freeAtMs <= nowMs) {
      this.#free += 1;
      return;
    }
    const after = this.#resting.findIndex((each) => each > freeAtMs);
    this.#resting.splice(after < 0 ? this.#resting.length : after, 0, freeAtMs);
  }

  /** Whether no place rests: any may be taken again. */
  isRested(nowMs: number): boolean {
    return (this.#resting.at(-1) ?? -Infinity) <= nowMs;
  }

  /** When the next resting place is free; undefined if none rests. */
  get nextFreeAtMs(): number | undefined {
    return this.#resting[0];
  }

  /** No place rests for longer than a turn, also where the clock was set back meanwhile. */
  #followClock(nowMs: number): void {
    const latestMs = nowMs + this.#turnMs;
    for (let at = this.#resting.length - 1; (this.#resting[at] ?? 0) > latestMs; at -= 1) this.#resting[at] = latestMs;
  }
}
