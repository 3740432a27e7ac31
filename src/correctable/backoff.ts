/** When to try again: after a lost connection, or what a store could not do now. */
import { checkOptions } from './errors.ts';

/** A policy for trying again. */
export interface Backoff {
  /**
   * How long to wait before attempt number `attempt` (1 is the first after a failure), in milliseconds; `undefined` to
   * give up. `random` returns a number in [0, 1).
   */
  delayMs(attempt: number, random: () => number): number | undefined;
}

/** Options of `exponentialBackoff`. */
export interface BackoffOptions {
  /** Upper bound of the first delay. Default 100. */
  readonly firstMs?: number;
  /** Factor from one attempt to the next. Default 2. */
  readonly factor?: number;
  /** Upper bound of every delay. Default 5000. */
  readonly maxMs?: number;
  /** Attempts before giving up. Default: never. */
  readonly attemptsMax?: number;
}

/**
 * Delays that double up to a bound, each drawn from the upper half of its range: clients that lost the same server do
 * not come back in step, and none hammers.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit
 * @example
 * const store = remote({ url, levels, reconnect: exponentialBackoff({ maxMs: 1000, attemptsMax: 10 }) });
 */
export function exponentialBackoff(options: BackoffOptions = {}): Backoff {
  checkOptions(options, 'firstMs:number,factor:number,maxMs:number,attemptsMax:number');
  const { firstMs = 100, factor = 2, maxMs = 5_000, attemptsMax = Infinity } = options;
  return {
    delayMs(attempt, random) {
      if (attempt > attemptsMax) return undefined;
      const ceiling = Math.min(maxMs, firstMs * factor ** (attempt - 1));
      return ceiling * (0.5 + random() / 2);
    },
  };
}

/**
 * Gives up when the connection is lost.
 *
 * @example
 * const store = remote({ url, levels, reconnect: neverReconnect });
 */
export const neverReconnect: Backoff = { delayMs: () => undefined };
