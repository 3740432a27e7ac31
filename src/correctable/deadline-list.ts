/**
 * The deadlines of many operations on few timers. Operations with one timeout end in the order in
 * which they began. So one list and one timer for each timeout suffice, and to set or remove one
 * more deadline costs no timer.
 */
import type { Clock, Timer } from './clock.ts';

/** An item with a deadline. */
interface DeadlineItem {
  readonly state: string;
  readonly dueAt: number | undefined;
  /** Called once the deadline has passed. It closes the item, which calls `remove`. */
  expire(): void;
}

const isOpen = ({ state }: DeadlineItem): boolean => state === 'pending';

/**
 * All items that have one timeout. It has a timer only while it has an open item. A timer that
 * stays behind would keep a page busy for tools that wait until it has none, such as zone.js. If a
 * test replaces the timers of the platform, a timer from before would never fire for the items to
 * come.
 */
export class DeadlineList {
  readonly #clock: Clock;
  /** The items in order. Closed items stay until they are half of the list. */
  #all: DeadlineItem[] = [];
  #open = 0;
  /** The number of items for which a caller waits. */
  #retained = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Expires `item` in `limitMs` unless it closes before, which calls `remove`. */
  add(item: DeadlineItem, limitMs: number): void {
    this.#all.push(item);
    this.setRef(true);
    if (this.#open++ === 0) this.#arm(item.dueAt!, limitMs);
  }

  /**
   * Notes that an item of the list has closed. `wasHeld` is false if no caller waited for it any
   * more.
   */
  remove(wasHeld: boolean): void {
    if (--this.#open === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
      this.#all = [];
    } else if (this.#all.length > 2 * this.#open) this.#all = this.#all.filter(isOpen);
    if (wasHeld) this.setRef(false);
  }

  /** Keeps the process alive for one more item of the list, or for one fewer. */
  setRef(isHeld: boolean): void {
    const before = this.#retained;
    this.#retained += isHeld ? 1 : -1;
    if (before === 0 || this.#retained === 0) this.#timer?.setRef?.(isHeld);
  }

  #arm(dueAt: number, delayMs: number): void {
    this.#timer = this.#clock.setTimer(() => this.#fire(dueAt), delayMs);
    if (this.#retained === 0) this.#timer.setRef?.(false);
  }

  #fire(armedFor: number): void {
    // The timer has fired, so its time has passed. The clock may not show that if a test controls
    // the timers but not the clock.
    const now = Math.max(this.#clock.now(), armedFor);
    this.#timer = undefined;
    for (const item of this.#all.filter(isOpen)) if (item.dueAt! <= now) item.expire();
    const next = this.#all.find(isOpen);
    // An item that was added meanwhile, to the empty list, has set the timer.
    if (next && !this.#timer) this.#arm(next.dueAt!, next.dueAt! - now);
  }
}
