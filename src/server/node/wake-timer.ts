import { systemClock, type Timer } from '../../correctable/clock.ts';

/** A timer for the earliest of the times that it is set to. */
export class WakeTimer {
  readonly #onWake: () => void;
  #timer: Timer | undefined;
  #atMs = Infinity;

  constructor(onWake: () => void) {
    this.#onWake = onWake;
  }

  /**
   * Calls `onWake` at that time, or at an earlier one to which it is set already.
   *
   * @param atMs by the clock of `performance.now()`
   */
  set(atMs: number): void {
    if (atMs >= this.#atMs) return;
    this.clear();
    this.#atMs = atMs;
    this.#timer = systemClock.setTimer(
      () => {
        this.#atMs = Infinity;
        this.#onWake();
      },
      Math.max(0, atMs - performance.now()),
    );
  }

  clear(): void {
    this.#timer?.cancel();
    this.#atMs = Infinity;
  }
}
