/**
 * Deadlines of many operations on few timers. Operations with one time limit end in the order in which they began, so
 * a first-in-first-out list per limit and one timer per list suffice, and adding or removing one costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** What has a deadline: a link of the list for its time limit. */
export interface Limited {
  readonly deadlineAt: number | undefined;
  earlier: Limited | undefined;
  later: Limited | undefined;
  /** Called once the deadline has passed; expected to leave the list. */
  expire(): void;
}

/** All that have one time limit. */
export class DeadlineList {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onIdle: () => void;
  #first: Limited | undefined;
  #last: Limited | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, limitMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
  }

  add(limited: Limited): void {
    const last = this.#last;
    this.#last = limited;
    limited.earlier = last;
    if (last !== undefined) last.later = limited;
    else {
      this.#first = limited;
      if (this.#timer === undefined) this.#arm(this.#limitMs);
      else this.#timer.hold?.(true);
    }
  }

  /** To be called once. */
  remove(limited: Limited): void {
    const { earlier, later } = limited;
    // Who keeps a closed one must not keep its neighbours, and theirs.
    limited.earlier = limited.later = undefined;
    if (earlier === undefined) this.#first = later;
    else earlier.later = later;
    if (later === undefined) this.#last = earlier;
    else later.earlier = earlier;
    // The timer stays for the operations to come, but an idle client must not keep the process alive.
    if (this.#first === undefined) this.#timer?.hold?.(false);
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimer(() => this.#fire(), Math.max(delayMs, 1));
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    let first = this.#first;
    for (; first !== undefined && first.deadlineAt! <= now; first = this.#first) first.expire();
    if (this.#timer !== undefined) return;
    if (first === undefined) this.#onIdle();
    else this.#arm(first.deadlineAt! - now);
  }
}
