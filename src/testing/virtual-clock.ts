/** A clock that a test advances. Tests of delays and deadlines need not wait for them. */
import type { Clock, Timer } from '../correctable/clock.ts';
import { check } from '../correctable/errors.ts';

/** A clock that a test controls. */
export interface VirtualClock extends Clock {
  /** Number of pending timers. */
  readonly pendingTimers: number;
  /**
   * Advances the time by `ms`. Fires due timers in order, and lets promises settle after each
   * timer.
   */
  advance(ms: number): Promise<void>;
  /**
   * Advances the time to the last timer, including new ones. Throws after `maxTimers` of them.
   * Default: 100 000
   */
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
  check(
    Number.isFinite(startsAt),
    'startsAt',
    'must be milliseconds since the epoch, as virtualClock(0)',
  );
  let nowMs = startsAt;
  /** Sorted by due time, then by age. */
  const timers: VirtualTimer[] = [];

  async function fireNext(): Promise<void> {
    const timer = timers.shift()!;
    nowMs = Math.max(nowMs, timer.dueAt);
    timer.fire();
    await settlePromises();
  }

  return {
    get pendingTimers() {
      return timers.length;
    },
    now: () => nowMs,
    setTimer(fire, delayMs) {
      const dueAt = nowMs + Math.max(delayMs, 0);
      const cancel = (): void => {
        const at = timers.indexOf(timer);
        if (at >= 0) timers.splice(at, 1);
      };
      const timer: VirtualTimer = { dueAt, fire, cancel };
      const later = timers.findIndex((other) => other.dueAt > dueAt);
      timers.splice(later < 0 ? timers.length : later, 0, timer);
      return timer;
    },
    async advance(ms) {
      const end = nowMs + ms;
      await settlePromises();
      while (timers.length > 0 && timers[0]!.dueAt <= end) await fireNext();
      nowMs = end;
      await settlePromises();
    },
    async runAll(maxTimers = DEFAULT_MAX_TIMERS) {
      await settlePromises();
      for (let fired = 0; timers.length > 0; fired++) {
        if (fired === maxTimers)
          throw new Error(`The clock fired ${maxTimers} timers and there is always another`);
        await fireNext();
      }
    },
  };
}

/** Lets every promise that can settle do so, because a macrotask runs after all microtasks. */
function settlePromises(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
