/**
 * The port through which the library reads the time and sets timers, so that
 * tests and simulations can control time.
 */

/** A timer that has been set. */
export interface Timer {
  cancel(): void;
  /**
   * Sets whether the timer keeps the process running. Absent if the platform
   * has no such choice.
   */
  setRef?(retained: boolean): void;
}

/** Source of time. */
export interface Clock {
  /**
   * Returns elapsed milliseconds, an integer. Never goes back, nor jumps when
   * the machine's clock is set.
   */
  now(): number;
  /**
   * Returns milliseconds since the epoch, by the machine's clock. Default:
   * `now`
   */
  wallNow?(): number;
  /** Calls `fire` once, `delayMs` from now. */
  setTimer(fire: () => void, delayMs: number): Timer;
}

/** `setTimeout` fires at once if its delay is longer than this. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Timers of Node have `ref` and `unref`. Those of a browser are numbers. */
type TimeoutHandle = ReturnType<typeof setTimeout> & {
  ref?(): unknown;
  unref?(): unknown;
};

/** Returns how far the wall clock is ahead of `now` at present. */
export function getWallOffsetMs(clock: Clock): number {
  return clock.wallNow ? clock.wallNow() - clock.now() : 0;
}

/**
 * Returns elapsed milliseconds, from any start; by the wall clock if the
 * platform has no other.
 */
export function getElapsedMs(): number {
  return (globalThis.performance ?? Date).now();
}

/**
 * The clock of the process. `now` counts from the start of the process, as
 * timers do. Adding the start time would be slower.
 */
export const systemClock: Clock = {
  now: () => Math.floor(getElapsedMs()),
  wallNow: () => Date.now(),
  setTimer(fire, delayMs) {
    let handle: TimeoutHandle;
    const arm = (remainingMs: number): void => {
      const stepMs = Math.min(remainingMs, MAX_DELAY_MS);
      handle = setTimeout(
        () => (remainingMs > stepMs ? arm(remainingMs - stepMs) : fire()),
        stepMs,
      );
    };
    arm(delayMs);
    return {
      cancel: () => clearTimeout(handle),
      setRef: (retained) => void handle[retained ? 'ref' : 'unref']?.(),
    };
  },
};
