/**
 * Deadlines of many operations on few timers. Operations with one time limit end in the order in which they began, so
 * a first-in-first-out list per limit and one timer per list suffice, and adding or removing one costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** What has a deadline. */
export interface Limited {
  readonly deadlineAt: number | undefined;
  /** Called once the deadline has passed; expected to leave the list. */
  expire(): void;
}

/** All that have one time limit. */
export class DeadlineList {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onIdle: () => void;
  readonly #waiting = new Set<Limited>();
  #timer: Timer | undefined;

  constructor(clock: Clock, limitMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
  }

  add(limited: Limited): void {
    this.#waiting.add(limited);
    if (this.#timer === undefined) this.#arm(this.#limitMs);
    else if (this.#waiting.size === 1) this.#timer.hold?.(true);
  }

  remove(limited: Limited): void {
    this.#waiting.delete(limited);
    // The timer stays for the operations to come, but an idle client must not keep the process alive.
    if (this.#waiting.size === 0) this.#timer?.hold?.(false);
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimer(() => this.#fire(), Math.max(delayMs, 1));
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (const limited of this.#waiting) {
      const remainingMs = limited.deadlineAt! - now;
      if (remainingMs > 0) {
        if (this.#timer === undefined) this.#arm(remainingMs);
        return;
      }
      limited.expire();
    }
    if (this.#timer === undefined) this.#onIdle();
  }
}
