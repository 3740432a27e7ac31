/**
 * The port through which the library reads the time and sets timers, so that tests and simulations
 * can control time.
 */

/** A timer that has been set. */
export interface Timer {
  cancel(): void;
  /**
   * Sets whether the timer keeps the process running. Absent if the platform has no such choice.
   */
  setRef?(retained: boolean): void;
}

/** Source of time. */
export interface Clock {
  /**
   * Returns elapsed milliseconds, an integer. Never goes back, nor jumps when the machine's clock
   * is set.
   */
  now(): number;
  /** Returns milliseconds since the epoch, by the machine's clock. Default: `now` */
  wallNow?(): number;
  /** Calls `fire` once, `delayMs` from now. */
  setTimer(fire: () => void, delayMs: number): Timer;
}

/** `setTimeout` fires at once if its delay is longer than this. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Timers of Node have `ref` and `unref`. Those of a browser are numbers. */
// oxlint-disable-next-line no-restricted-globals -- its type
type TimeoutHandle = ReturnType<typeof setTimeout> & {
  ref?(): unknown;
  unref?(): unknown;
};

/** Returns how far the wall clock is ahead of `now` at present. */
export function getWallOffsetMs(clock: Clock): number {
  return clock.wallNow ? clock.wallNow() - clock.now() : 0;
}

/** Returns elapsed milliseconds, from any start; by the wall clock if the platform has no other. */
export function getElapsedMs(): number {
  return (globalThis.performance ?? Date).now();
}

/**
 * A timer of the platform for a delay of any length, also `Infinity`. It is a class, since each
 * operation that runs alone sets one: closures cost more.
 */
class SystemTimer implements Timer {
  #handle!: TimeoutHandle;
  #isRef = true;

  constructor(fire: () => void, delayMs: number) {
    this.#arm(fire, delayMs);
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  setRef(retained: boolean): void {
    this.#isRef = retained;
    this.#handle[retained ? 'ref' : 'unref']?.();
  }

  #arm(fire: () => void, remainingMs: number): void {
    const laterMs = remainingMs - MAX_DELAY_MS;
    // oxlint-disable-next-line no-restricted-globals -- split to what it takes
    this.#handle = setTimeout(
      laterMs > 0 ? () => this.#arm(fire, laterMs) : fire,
      Math.min(remainingMs, MAX_DELAY_MS),
    );
    if (!this.#isRef) this.setRef(false);
  }
}

/**
 * The clock of the process. `now` counts from the start of the process, as timers do. Adding the
 * start time would be slower.
 */
export const systemClock: Clock = {
  now: () => Math.floor(getElapsedMs()),
  wallNow: () => Date.now(),
  setTimer: (fire, delayMs) => new SystemTimer(fire, delayMs),
};
