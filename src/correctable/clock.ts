/** The port through which the library reads and waits for time, so that tests and simulations can own it. */

/** A timer that has been set. */
export interface Timer {
  cancel(): void;
  /** Lets (`false`) or does not let (`true`) the process end before the timer fires; absent where that means nothing. */
  setRef?(retained: boolean): void;
}

/** Where the time comes from. */
export interface Clock {
  /** Milliseconds, whole ones, as they pass: never goes back, nor jumps when the machine's clock is set. */
  now(): number;
  /** Milliseconds since the epoch by the machine's clock, whatever that is set to; `now` where absent. */
  wallNow?(): number;
  /** Calls `fire` once, `delayMs` from now. */
  setTimer(fire: () => void, delayMs: number): Timer;
}

/** `setTimeout` fires at once when asked for more than this. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** What Node's timers have; a browser's are numbers. */
type TimeoutHandle = ReturnType<typeof setTimeout> & { ref?(): unknown; unref?(): unknown };

/** How far the wall clock is ahead of `now` at present. */
export function getWallOffsetMs(clock: Clock): number {
  return clock.wallNow ? clock.wallNow() - clock.now() : 0;
}

/** Returns milliseconds as they pass, from any start; of the machine's clock if the platform has no other. */
export function getElapsedMs(): number {
  return (globalThis.performance ?? Date).now();
}

/** The clock of the running process; `now` counts from its start, as timers do. When that was would cost half a reading. */
export const systemClock: Clock = {
  now: () => Math.floor(getElapsedMs()),
  wallNow: () => Date.now(),
  setTimer(fire, delayMs) {
    let handle: TimeoutHandle;
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, MAX_DELAY_MS);
      handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : fire()), stepMs);
    };
    arm(delayMs);
    return {
      cancel: () => clearTimeout(handle),
      setRef: (retained) => void handle[retained ? 'ref' : 'unref']?.(),
    };
  },
};
