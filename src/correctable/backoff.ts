/** Decides when to retry after a lost connection, or after a store failed for now. */
import { checkOptions } from './errors.ts';

/** A policy for retries. */
export interface Backoff {
  /**
   * Returns how long to wait before attempt number `attempt`, in milliseconds; `undefined` to give
   * up. Attempt 1 is the first after a failure. `random` returns a number in [0, 1).
   */
  delayMs(attempt: number, random: () => number): number | undefined;
}

/** Options of `exponentialBackoff`. */
export interface BackoffOptions {
  /** Upper bound of the first delay. Default: 100 */
  readonly initialDelayMs?: number | undefined;
  /** Factor from one attempt to the next. Default: 2 */
  readonly factor?: number | undefined;
  /** Upper bound of every delay. Default: 5000 */
  readonly maxDelayMs?: number | undefined;
  /** Attempts before giving up. Default: no limit */
  readonly maxAttempts?: number | undefined;
}

/**
 * Returns delays that double up to a bound, each drawn from the upper half of its range. So clients
 * that lost the same server do not reconnect all at once, and no client floods it.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an option is invalid; names the option
 * @example
 * const store = remote({
 *   url,
 *   levels,
 *   reconnect: exponentialBackoff({ maxDelayMs: 1000, maxAttempts: 10 }),
 * });
 */
export function exponentialBackoff(options: BackoffOptions = {}): Backoff {
  checkOptions(options, 'initialDelayMs:number,factor:number,maxDelayMs:number,maxAttempts:number');
  const { initialDelayMs = 100, factor = 2, maxDelayMs = 5_000, maxAttempts = Infinity } = options;
  return {
    delayMs(attempt, random) {
      if (attempt > maxAttempts) return undefined;
      const ceiling = Math.min(maxDelayMs, initialDelayMs * factor ** (attempt - 1));
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
