/** The port through which the library reads and waits for time, so that tests and simulations can own it. */

/** A timer that has been set. */
export interface Timer {
  cancel(): void;
  /** Lets (`false`) or does not let (`true`) the process end before the timer fires; absent where that means nothing. */
  hold?(held: boolean): void;
}

/** Where the time comes from. */
export interface Clock {
  /** Milliseconds since the epoch, whole ones; never goes back, whatever is set meanwhile. */
  now(): number;
  /** Calls `fire` once, `delayMs` from now. */
  setTimer(fire: () => void, delayMs: number): Timer;
}

/** `setTimeout` fires at once when asked for more than this. */
const DELAY_MS_MAX = 2 ** 31 - 1;

/** What Node's timers have; a browser's are numbers. */
type Handle = ReturnType<typeof setTimeout> & { ref?(): unknown; unref?(): unknown };

/** The clock of the running process: the epoch by the wall clock of its start, then as time passes, as timers count it. */
export const systemClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  setTimer(fire, delayMs) {
    let handle: Handle;
    const arm = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, DELAY_MS_MAX);
      handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : fire()), stepMs);
    };
    arm(delayMs);
    return {
      cancel: () => clearTimeout(handle),
      hold: (held) => void handle[held ? 'ref' : 'unref']?.(),
    };
  },
};
