/** Retries while the store is overloaded. It has then done nothing, so a retry is safe. */
import { isCorrectableError } from 'correctables';
import { pause } from './pause.ts';

const RETRIES_MAX = 50;
/**
 * How long to wait before the first retry, unless the store specifies it. Each wait is longer, up
 * to eight times as long.
 */
const RETRY_AFTER_MS = 50;
const RETRY_FACTOR_MAX = 8;

export interface RetryOptions {
  /** Called before each retry, with the number of retries so far. */
  readonly onRetry?: (retries: number) => void;
  /** Returns whether to retry. Default: always */
  readonly mayRetry?: () => boolean;
}

/**
 * Runs `attempt` until the store accepts it.
 *
 * @throws what `attempt` throws: any failure but `OVERLOADED`, and also that one after the last
 * retry
 */
export async function retry<T>(
  attempt: () => PromiseLike<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { onRetry, mayRetry = () => true } = options;
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (failure) {
      const isBusy = isCorrectableError(failure, 'OVERLOADED');
      if (!isBusy || retries === RETRIES_MAX || !mayRetry()) throw failure;
      onRetry?.(retries + 1);
      await pause(delayMs(failure.retryAfterMs, retries));
    }
  }
}

/**
 * Returns a wait that grows with the number of retries. It is random, so that customers do not all
 * retry at the same time.
 */
function delayMs(retryAfterMs = RETRY_AFTER_MS, retries: number): number {
  return retryAfterMs * Math.min(2 ** retries, RETRY_FACTOR_MAX) * (0.5 + Math.random());
}
