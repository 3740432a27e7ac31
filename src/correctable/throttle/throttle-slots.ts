/**
 * The places of a pace: an update has one while it is in flight, and it is not
 * taken again before its turn is over.
 */
import type { Throttle } from './concurrent-writes.ts';

export class ThrottleSlots {
  readonly #minSlotIntervalMs: number;
  #freeCount: number;
  /** When each free place may be taken again, the next one first. */
  readonly #reusableAtMs: number[] = [];

  constructor({ maxInFlight, minSlotIntervalMs }: Throttle) {
    this.#freeCount = maxInFlight;
    this.#minSlotIntervalMs = minSlotIntervalMs;
  }

  /** Takes a place if there is one. */
  tryAcquire(nowMs: number): boolean {
    this.#limitToClock(nowMs);
    while ((this.#reusableAtMs[0] ?? Infinity) <= nowMs) {
      this.#reusableAtMs.shift();
      this.#freeCount += 1;
    }
    if (this.#freeCount === 0) return false;
    this.#freeCount -= 1;
    return true;
  }

  /** Gives back a place that was taken at `acceptedAtMs`. */
  release(takenAtMs: number, nowMs: number): void {
    const freeAtMs = Math.min(takenAtMs, nowMs) + this.#minSlotIntervalMs;
    if (freeAtMs <= nowMs) {
      this.#freeCount += 1;
      return;
    }
    const after = this.#reusableAtMs.findIndex((item) => item > freeAtMs);
    this.#reusableAtMs.splice(
      after < 0 ? this.#reusableAtMs.length : after,
      0,
      freeAtMs,
    );
  }

  /** Whether no place rests: any may be taken again. */
  isIdle(nowMs: number): boolean {
    return (this.#reusableAtMs.at(-1) ?? -Infinity) <= nowMs;
  }

  /** When the next resting place is free; undefined if none rests. */
  get nextFreeAtMs(): number | undefined {
    return this.#reusableAtMs[0];
  }

  /**
   * No place rests for longer than a turn, also where the clock was set back
   * meanwhile.
   */
  #limitToClock(nowMs: number): void {
    const latestMs = nowMs + this.#minSlotIntervalMs;
    for (
      let at = this.#reusableAtMs.length - 1;
      (this.#reusableAtMs[at] ?? 0) > latestMs;
      at -= 1
    )
      this.#reusableAtMs[at] = latestMs;
  }
}
