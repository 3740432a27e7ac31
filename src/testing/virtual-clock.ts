/** A clock that stands still until a test moves it: tests of delays and deadlines without waiting for them. */
import type { Clock, Timer } from '../correctable/clock.ts';
import { check } from '../correctable/errors.ts';

/** A clock that a test controls. */
export interface VirtualClock extends Clock {
  /** Number of pending timers. */
  readonly pendingTimers: number;
  /** Advances the time by `ms`. Fires due timers in order, and lets promises settle after each timer. */
  advance(ms: number): Promise<void>;
  /** Advances the time to the last timer, including new ones. Throws after `maxTimers` of them. Default: 100 000 */
  runAll(maxTimers?: number): Promise<void>;
}

interface VirtualTimer extends Timer {
  readonly dueAt: number;
  readonly fire: () => void;
}

const DEFAULT_MAX_TIMERS = 100_000;

/**
 * Creates a virtual clock that starts at `startsAt`, in milliseconds since the epoch. Default: 0
 *
 * @example
 * const clock = virtualClock();
 * const store = createClient(memory({ clock }), { clock });
 * const read = store.invoke(get('k'));
 * await clock.advance(20);
 * read.state; // 'final'
 */
export function virtualClock(startsAt = 0): VirtualClock {
  check(Number.isFinite(startsAt), 'startsAt', 'must be milliseconds since the epoch, as virtualClock(0)');
  return new TestClock(startsAt);
}

class TestClock implements VirtualClock {
  #now: number;
  /** Sorted by due time, then by age. */
  readonly #timers: VirtualTimer[] = [];

  constructor(startsAt: number) {
    this.#now = startsAt;
  }

  get pendingTimers(): number {
    return this.#timers.length;
  }

  now(): number {
    return this.#now;
  }

  setTimer(fire: () => void, delayMs: number): Timer {
    const dueAt = this.#now + Math.max(delayMs, 0);
    const timer: VirtualTimer = { dueAt, fire, cancel: () => this.#remove(timer) };
    const later = this.#timers.findIndex((other) => other.dueAt > dueAt);
    this.#timers.splice(later < 0 ? this.#timers.length : later, 0, timer);
    return timer;
  }

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settlePromises();
    while (this.#timers.length > 0 && this.#timers[0]!.dueAt <= end) await this.#fireNext();
    this.#now = end;
    await settlePromises();
  }

  async runAll(maxTimers = DEFAULT_MAX_TIMERS): Promise<void> {
    await settlePromises();
    for (let fired = 0; this.#timers.length > 0; fired++) {
      if (fired === maxTimers) throw new Error(`The clock fired ${maxTimers} timers and there is always another`);
      await this.#fireNext();
    }
  }

  async #fireNext(): Promise<void> {
    const timer = this.#timers.shift()!;
    this.#now = Math.max(this.#now, timer.dueAt);
    timer.fire();
    await settlePromises();
  }

  #remove(timer: VirtualTimer): void {
    const at = this.#timers.indexOf(timer);
    if (at >= 0) this.#timers.splice(at, 1);
  }
}

/** Lets every promise that can settle do so: a macrotask comes after all microtasks. */
function settlePromises(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
