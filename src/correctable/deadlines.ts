/**
 * Deadlines of many operations on few timers. Operations with one time limit end in the order in which they began, so
 * one list and one timer per limit suffice, and setting or lifting one more deadline costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** What has a deadline. */
interface Limited {
  readonly state: string;
  readonly deadlineAt: number | undefined;
  /** Called once the deadline has passed; expected to close. */
  expire(): void;
}

/** All that have one time limit. */
export class DeadlineList {
  #all: Limited[] = [];
  #closed = 0;
  #timer: Timer | undefined;
  readonly #clock: Clock;
  readonly #onIdle: () => void;

  constructor(clock: Clock, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  /** Expires `one` in `limitMs` unless it closes before, which is to be told by `forget`. */
  add(one: Limited, limitMs: number): void {
    if (this.#all.push(one) === 1) this.#timer?.hold?.(true);
    this.#arm(limitMs);
  }

  /** One of the list has closed. Those that have are passed over, and dropped once they are half of all. */
  forget(): void {
    if (++this.#closed * 2 <= this.#all.length) return;
    this.#all = this.#all.filter(isOpen);
    this.#closed = 0;
    // The timer stays for those to come, but an idle client must not keep the process alive.
    if (this.#all.length === 0) this.#timer?.hold?.(false);
  }

  #arm(delayMs: number): void {
    this.#timer ??= this.#clock.setTimer(() => this.#fire(), Math.max(delayMs, 1));
  }

  #fire(): void {
    const now = this.#clock.now();
    this.#timer = undefined;
    for (const one of this.#all) {
      const leftMs = one.deadlineAt! - now;
      if (!isOpen(one)) continue;
      if (leftMs > 0) return this.#arm(leftMs);
      one.expire();
    }
    if (!this.#timer) this.#onIdle();
  }
}

function isOpen({ state }: Limited): boolean {
  return state === 'updating';
}
