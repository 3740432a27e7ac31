/** Trying again while the store is too busy: it has done nothing then, so another try does no harm. */
import { isCorrectableError } from 'correctables';
import { pause } from './pause.ts';

const RETRIES_MAX = 50;
/** How long to wait before the first retry unless the store says; each time longer, up to eight times as long. */
const RETRY_AFTER_MS = 50;
const RETRY_FACTOR_MAX = 8;

export interface RetryOptions {
  /** Called before each further try, with how many there were. */
  readonly onRetry?: (retries: number) => void;
  /** Whether another try is still wanted; always unless given. */
  readonly mayRetry?: () => boolean;
}

/**
 * Runs `attempt` until the store takes it.
 *
 * @throws what `attempt` throws: any failure but `OVERLOADED`, and that one too in the end
 */
export async function retry<T>(attempt: () => PromiseLike<T>, options: RetryOptions = {}): Promise<T> {
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

/** Grows with the number of tries, and differs between customers, so that they do not all come back at once. */
function delayMs(retryAfterMs = RETRY_AFTER_MS, retries: number): number {
  return retryAfterMs * Math.min(2 ** retries, RETRY_FACTOR_MAX) * (0.5 + Math.random());
}
