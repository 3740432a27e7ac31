/** The errors of a store that does not answer, or rejects a call. */
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';

export const STORE_TIMEOUT_MS = 1_000;

export type StoreCall = 'load' | 'ready' | 'write' | 'close';

export function createStoreTimeoutError(call: StoreCall): CorrectableError {
  const cause = new CorrectableError(
    'TIMEOUT',
    `the store has not ended '${call}' within ${STORE_TIMEOUT_MS} ms`,
  );
  return new CorrectableError(
    'UNAVAILABLE',
    'cache: its store does not answer; the cache goes on in memory',
    {
      cause,
    },
  );
}

/**
 * Creates the error of a cache that closes with unwritten changes. If one of them is an update, a
 * later page may show the earlier value.
 */
export function createUnwrittenError(cause: unknown): CorrectableError {
  const message =
    'cache: closed before its store has taken what was changed last; it may still take it';
  return new CorrectableError('UNAVAILABLE', message, { cause });
}

/** Returns whether the store has not answered in time. */
export function isStoreTimeout(error: unknown): boolean {
  return error instanceof CorrectableError && isCorrectableError(error.cause, 'TIMEOUT');
}

export function createStoreRejectedError(cause?: unknown): CorrectableError {
  const message = 'cache: its store has not taken what was changed: try again, or delete the store';
  return new CorrectableError('UNAVAILABLE', message, { cause });
}
