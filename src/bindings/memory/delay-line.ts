/** Things that all take one time to arrive: first in, first out, on one timer; with no delay, in one microtask. */
import type { Clock, Timer } from '../../correctable/clock.ts';

interface Travelling<T> {
  readonly item: T;
  readonly arrivesAt: number;
}

export class DelayLine<T> {
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #arrive: (item: T) => void;
  #items: Travelling<T>[] = [];
  #head = 0;
  #awaited = false;
  #timer: Timer | undefined;

  constructor(clock: Clock, delayMs: number, arrive: (item: T) => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#arrive = arrive;
  }

  send(item: T): void {
    this.#items.push({ item, arrivesAt: this.#delayMs === 0 ? 0 : this.#clock.now() + this.#delayMs });
    if (!this.#awaited) this.#await(this.#delayMs);
  }

  /** Empties the line; what was on its way arrives nowhere. */
  drain(): T[] {
    this.#timer?.cancel();
    const rest = this.#items.slice(this.#head).map(({ item }) => item);
    this.#items = [];
    this.#head = 0;
    return rest;
  }

  #await(delayMs: number): void {
    this.#awaited = true;
    if (this.#delayMs === 0) queueMicrotask(() => this.#deliver(0));
    else this.#timer = this.#clock.setTimer(() => this.#deliver(this.#clock.now()), Math.max(delayMs, 1));
  }

  #deliver(now: number): void {
    this.#awaited = false;
    // What is sent meanwhile without delay waits for the next microtask, as a reply would.
    const end = this.#items.length;
    while (this.#head < end && this.#items[this.#head]!.arrivesAt <= now) this.#arrive(this.#items[this.#head++]!.item);
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (!this.#awaited) {
      this.#await(this.#items[this.#head]!.arrivesAt - now);
    }
  }
}
