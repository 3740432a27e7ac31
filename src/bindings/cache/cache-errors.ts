/** Creates and reports the errors of a cache itself. */
import { defaultEnvironment } from '../../correctable/environment.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { CacheOperation } from './cache-operation.ts';

/**
 * Returns a function that reports errors for which no caller waits. If the application's function
 * throws, that has no effect.
 */
export function createErrorReporter(
  onError: ((error: unknown) => void) | undefined,
): (error: unknown) => void {
  return (error) => {
    if (onError === undefined) {
      defaultEnvironment.reportUncaught(error);
      return;
    }
    try {
      onError(error);
    } catch (second) {
      defaultEnvironment.reportUncaught(second);
    }
  };
}

export function createCallerError(name: string): CorrectableError {
  const message =
    `cached(${name}): a principal is no plain data, so its views are not cached. ` +
    'Let authenticate, or the caller of withPrincipal, give an object such as { id, roles }.';
  return new CorrectableError('INVALID_VALUE', message, { field: 'principal' });
}

export function describeMiss({ operation }: CacheOperation): string {
  const of = operation.key === undefined ? '' : ` of '${operation.key}'`;
  return `'${operation.name}'${of} is not in the cache`;
}

/**
 * Adds the cache miss to the error of the inner binding. A client that is offline gets both causes.
 */
export function addMissToError(error: unknown, subject: CacheOperation): unknown {
  if (!isCorrectableError(error, 'UNAVAILABLE')) return error;
  const message = `${describeMiss(subject)} and the store behind is unavailable: retry later`;
  return new CorrectableError('UNAVAILABLE', message, { cause: error });
}
