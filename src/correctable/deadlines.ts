/**
 * Deadlines of many operations on few timers. Operations with one time limit end in the order in which they began, so
 * a first-in-first-out list per limit and one timer per list suffice, and adding or removing one costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** The deadline of one operation: a link of the list for its time limit. */
export class Deadline {
  readonly at: number;
  before: Deadline | undefined = undefined;
  after: Deadline | undefined = undefined;
  readonly #expire: { expire(): void };
  readonly #list: DeadlineList;

  constructor(at: number, target: { expire(): void }, list: DeadlineList) {
    this.at = at;
    this.#expire = target;
    this.#list = list;
  }

  /** To be called once, when the operation closes in time. */
  cancel(): void {
    this.#list.remove(this);
  }

  expire(): void {
    this.#expire.expire();
  }
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #lists = new Map<number, DeadlineList>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `target.expire()` `durationMs` from `now`; `expire` is expected to cancel the deadline. */
  add(target: { expire(): void }, durationMs: number, now: number): Deadline {
    let list = this.#lists.get(durationMs);
    if (list === undefined) {
      list = new DeadlineList(this.#clock, () => this.#lists.delete(durationMs));
      this.#lists.set(durationMs, list);
    }
    return list.add(target, durationMs, now);
  }
}

class DeadlineList {
  readonly #clock: Clock;
  readonly #onIdle: () => void;
  #head: Deadline | undefined;
  #tail: Deadline | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  add(target: { expire(): void }, durationMs: number, now: number): Deadline {
    const deadline = new Deadline(now + durationMs, target, this);
    deadline.before = this.#tail;
    if (this.#tail !== undefined) this.#tail.after = deadline;
    else {
      this.#head = deadline;
      if (this.#timer === undefined) this.#arm(durationMs);
      else this.#timer.hold?.(true);
    }
    this.#tail = deadline;
    return deadline;
  }

  remove({ before, after }: Deadline): void {
    if (before === undefined) this.#head = after;
    else before.after = after;
    if (after === undefined) this.#tail = before;
    else after.before = before;
    // The timer stays for the operations to come, but an idle client must not keep the process alive.
    if (this.#head === undefined) this.#timer?.hold?.(false);
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimer(() => this.#fire(), Math.max(delayMs, 1));
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (let due = this.#head; due !== undefined && due.at <= now; due = this.#head) due.expire();
    if (this.#timer !== undefined) return;
    if (this.#head === undefined) this.#onIdle();
    else this.#arm(this.#head.at - now);
  }
}
