/**
 * Delivers items that all take the same time, in their order, with one timer. Without a delay, it
 * uses one microtask.
 */
import type { Clock, Timer } from '../../correctable/clock.ts';

export class DelayQueue<T> {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #onArrival: (item: T) => void;
  #items: T[] = [];
  /** When each item arrives. Empty without a delay. */
  #times: number[] = [];
  #head = 0;
  #isScheduled = false;
  #timer: Timer | undefined;

  constructor(clock: Clock, delayMs: number, arrive: (item: T) => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#onArrival = arrive;
  }

  send(item: T): void {
    this.#items.push(item);
    if (this.#delayMs > 0) this.#times.push(this.#clock.now() + this.#delayMs);
    if (!this.#isScheduled) this.#schedule(this.#delayMs);
  }

  /** Removes all items. None of them is delivered any more. */
  drain(): T[] {
    this.#timer?.cancel();
    const remaining = this.#items.slice(this.#head);
    this.#reset();
    return remaining;
  }

  #schedule(delayMs: number): void {
    this.#isScheduled = true;
    if (this.#delayMs === 0) queueMicrotask(() => this.#deliver(0));
    else {
      const dueAt = this.#times[this.#head] ?? 0;
      // The timer has fired, so its time has passed. The clock may not show that if a test controls
      // the timers but not the clock.
      const fire = (): void => this.#deliver(Math.max(this.#clock.now(), dueAt));
      this.#timer = this.#clock.setTimer(fire, Math.max(delayMs, 1));
    }
  }

  #deliver(now: number): void {
    this.#isScheduled = false;
    // Deliver only the items that are present now. An item that is added during the delivery waits
    // for the next microtask.
    const end = this.#items.length;
    while (this.#head < Math.min(end, this.#items.length) && (this.#times[this.#head] ?? 0) <= now)
      this.#onArrival(this.#items[this.#head++]!);
    if (this.#head >= this.#items.length) this.#reset();
    else if (!this.#isScheduled) this.#schedule((this.#times[this.#head] ?? 0) - now);
  }

  #reset(): void {
    this.#items = [];
    this.#times = [];
    this.#head = 0;
  }
}
