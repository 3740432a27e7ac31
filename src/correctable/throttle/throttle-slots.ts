/**
 * The slots of a throttle. An update has one while it is in flight. A slot is not used again before
 * its interval is over.
 */
import type { Throttle } from './concurrent-writes.ts';

export class ThrottleSlots {
  readonly #minSlotIntervalMs: number;
  #freeCount: number;
  /** When each free slot may be used again, the next one first. */
  readonly #reusableAtMs: number[] = [];

  constructor({ maxInFlight, minSlotIntervalMs }: Throttle) {
    this.#freeCount = maxInFlight;
    this.#minSlotIntervalMs = minSlotIntervalMs;
  }

  /** Takes a slot if one is free. */
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

  /** Returns a slot that was taken at `takenAtMs`. */
  release(takenAtMs: number, nowMs: number): void {
    const freeAtMs = Math.min(takenAtMs, nowMs) + this.#minSlotIntervalMs;
    if (freeAtMs <= nowMs) {
      this.#freeCount += 1;
      return;
    }
    const after = this.#reusableAtMs.findIndex((item) => item > freeAtMs);
    this.#reusableAtMs.splice(after < 0 ? this.#reusableAtMs.length : after, 0, freeAtMs);
  }

  /** Returns whether every slot may be used again. */
  isIdle(nowMs: number): boolean {
    return (this.#reusableAtMs.at(-1) ?? -Infinity) <= nowMs;
  }

  /** When the next slot becomes free, or `undefined` if none is blocked. */
  get nextFreeAtMs(): number | undefined {
    return this.#reusableAtMs[0];
  }

  /** Blocks no slot for longer than one interval, even if the clock was set back meanwhile. */
  #limitToClock(nowMs: number): void {
    const latestMs = nowMs + this.#minSlotIntervalMs;
    for (let at = this.#reusableAtMs.length - 1; (this.#reusableAtMs[at] ?? 0) > latestMs; at -= 1)
      this.#reusableAtMs[at] = latestMs;
  }
}
