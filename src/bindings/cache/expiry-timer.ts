/** Removes entries that are too old, even if no caller reads them. All entries share one timer. */
import type { Clock, Timer } from '../../correctable/clock.ts';

export class ExpiryTimer {
  readonly #clock: Clock;
  readonly #sweep: (nowMs: number) => number;
  #timer: Timer | undefined;
  #dueAtMs = Infinity;

  /**
   * `sweep` removes entries that are too old. It returns when the next entry will be too old, or
   * `Infinity` if there is none.
   */
  constructor(clock: Clock, sweep: (nowMs: number) => number) {
    this.#clock = clock;
    this.#sweep = sweep;
  }

  /** Schedules a sweep for an entry that will be too old at `atMs`, by the monotonic clock. */
  scheduleSweep(atMs: number): void {
    if (atMs >= this.#dueAtMs) return;
    this.stop();
    this.#dueAtMs = atMs;
    this.#timer = this.#clock.setTimer(() => this.#onTime(), Math.max(0, atMs - this.#clock.now()));
    // The sweep must not keep a process alive.
    this.#timer.setRef?.(false);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#dueAtMs = Infinity;
  }

  #onTime(): void {
    this.#dueAtMs = Infinity;
    this.scheduleSweep(this.#sweep(this.#clock.now()));
  }
}
