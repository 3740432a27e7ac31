/** The port through which the library reads and waits for time, so that tests and simulations can own it. */

/** A timer that has been set. */
export interface Timer {
  cancel(): void;
  /** Lets (`false`) or does not let (`true`) the process end before the timer fires; absent where that means nothing. */
  hold?(held: boolean): void;
}

/** Where the time comes from. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fire` once, `delayMs` from now. */
  setTimer(fire: () => void, delayMs: number): Timer;
}

/** `setTimeout` fires at once when asked for more than this. */
const DELAY_MS_MAX = 2 ** 31 - 1;

class SystemTimer implements Timer {
  readonly #handle: ReturnType<typeof setTimeout>;

  constructor(fire: () => void, delayMs: number) {
    this.#handle = setTimeout(fire, Math.min(delayMs, DELAY_MS_MAX));
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  hold(held: boolean): void {
    const handle: { ref?(): unknown; unref?(): unknown } = Object(this.#handle);
    if (held) handle.ref?.();
    else handle.unref?.();
  }
}

/** The clock of the running process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer: (fire, delayMs) => new SystemTimer(fire, delayMs),
};
