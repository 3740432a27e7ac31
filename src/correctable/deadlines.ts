/**
 * Deadlines of many operations on few timers. Operations with one time limit end in the order in which they began, so
 * one list and one timer per limit suffice, and setting or lifting one more deadline costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** What has a deadline. */
interface Limited {
  readonly state: string;
  readonly dueAt: number | undefined;
  /** Called once the deadline has passed; of no effect where it has closed. */
  expire(): void;
}

/** All that have one time limit. */
export class DeadlineList {
  /** In order; those that have closed stay until they are half of it. */
  readonly #all: Limited[] = [];
  #open = 0;
  /** How many of them somebody waits for. */
  #held = 0;
  #timer: Timer | undefined;
  readonly #clock: Clock;
  readonly #onIdle: () => void;

  constructor(clock: Clock, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  /** Expires `one` in `limitMs` unless it closes before, which is to be told by `forget`. */
  add(one: Limited, limitMs: number): void {
    this.#all.push(one);
    this.hold(true);
    if (this.#open++ === 0) this.#arm(one, limitMs);
  }

  /** One of the list has closed; `wasHeld` unless nobody waited for it any more. */
  forget(wasHeld: boolean): void {
    this.#open--;
    // The timer stays for those to come, but an idle client must not keep the process alive.
    if (wasHeld) this.hold(false);
    if (this.#all.length > 2 * this.#open) this.#tidy();
  }

  /** The process stays alive for one more of the list, or for one less. */
  hold(isHeld: boolean): void {
    const before = this.#held;
    this.#held += isHeld ? 1 : -1;
    if (before === 0 || this.#held === 0) this.#timer?.hold?.(isHeld);
  }

  /** In place: a list left behind would keep from the collector what it holds. */
  #tidy(): void {
    let kept = 0;
    for (const one of this.#all) if (one.state === 'updating') this.#all[kept++] = one;
    this.#all.length = kept;
  }

  #arm({ dueAt }: Limited, delayMs: number): void {
    this.#timer ??= this.#clock.setTimer(() => this.#fire(dueAt!), Math.max(delayMs, 1));
    if (this.#held === 0) this.#timer.hold?.(false);
  }

  #fire(armedFor: number): void {
    // That the timer fires says that its time has passed, also where tests own the timers and not the clock.
    const now = Math.max(this.#clock.now(), armedFor);
    this.#timer = undefined;
    for (const one of this.#all.filter(({ state, dueAt }) => state === 'updating' && dueAt! <= now)) one.expire();
    const next = this.#all.find(({ state }) => state === 'updating');
    if (next) this.#arm(next, next.dueAt! - now);
    else this.#onIdle();
  }
}
