/**
 * Deadlines of many operations on few timers. Operations with one time limit end in the order in which they began, so
 * a first-in-first-out list per limit and one timer per list suffice, and adding or removing one costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** An operation in a list of deadlines. The lists own the links. */
export interface Expiring {
  deadlineAt: number | undefined;
  deadlineList: DeadlineList | undefined;
  earlier: Expiring | undefined;
  later: Expiring | undefined;
  expire(): void;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #lists = new Map<number, DeadlineList>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `node.expire()` after `durationMs`, unless `cancelDeadline(node)` comes first. */
  add(node: Expiring, durationMs: number): void {
    let list = this.#lists.get(durationMs);
    if (list === undefined) {
      list = new DeadlineList(this.#clock, () => this.#lists.delete(durationMs));
      this.#lists.set(durationMs, list);
    }
    node.deadlineAt = this.#clock.now() + durationMs;
    list.push(node, durationMs);
  }
}

export function cancelDeadline(node: Expiring): void {
  node.deadlineList?.remove(node);
}

class DeadlineList {
  readonly #clock: Clock;
  readonly #onIdle: () => void;
  #head: Expiring | undefined;
  #tail: Expiring | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  push(node: Expiring, durationMs: number): void {
    node.deadlineList = this;
    node.earlier = this.#tail;
    if (this.#tail === undefined) {
      this.#head = node;
      if (this.#timer === undefined) this.#arm(durationMs);
      else this.#timer.hold?.(true);
    } else {
      this.#tail.later = node;
    }
    this.#tail = node;
  }

  remove(node: Expiring): void {
    const { earlier, later } = node;
    if (earlier === undefined) this.#head = later;
    else earlier.later = later;
    if (later === undefined) this.#tail = earlier;
    else later.earlier = earlier;
    node.deadlineList = undefined;
    node.earlier = undefined;
    node.later = undefined;
    // The timer stays for the operations to come, but an idle client must not keep the process alive.
    if (this.#head === undefined) this.#timer?.hold?.(false);
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimer(() => this.#fire(), Math.max(delayMs, 1));
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (let node = this.#head; node !== undefined && (node.deadlineAt ?? 0) <= now; node = this.#head) {
      this.remove(node);
      node.expire();
    }
    if (this.#head === undefined) {
      if (this.#timer === undefined) this.#onIdle();
    } else if (this.#timer === undefined) {
      this.#arm((this.#head.deadlineAt ?? 0) - now);
    }
  }
}

export type { DeadlineList };
