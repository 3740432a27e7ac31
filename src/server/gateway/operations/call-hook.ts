/**
 * The edge to the code of others: hooks of the application and methods of the hosted binding may throw, reject, hang or
 * give what they should not. None of that may end the process, or pass for an answer.
 */
import { systemClock } from '../../../correctable/clock.ts';
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/validate.ts';

const ignore = (): void => {};

/** Handles the promise of a hook that should have returned none: an unhandled rejection ends the process. */
export function ignoreRejection(value: unknown): void {
  if (isThenable(value)) Promise.resolve(value).then(ignore, ignore);
}

/** A hook gave no answer in time. */
export class HookTimeoutError extends CorrectableError {
  constructor(name: string, timeoutMs: number) {
    super('UNAVAILABLE', `${name} gave no answer within ${timeoutMs} ms; nothing was done`);
  }
}

/**
 * Whether a hook could not decide, rather than rejected: it gave no answer in time, or a temporary error of this
 * package, such as `UNAVAILABLE`, since the service that it uses is down.
 */
export function isUndecided(error: unknown): boolean {
  try {
    return isCorrectableError(error) && error.retryable;
  } catch {
    // A getter of what was thrown.
    return false;
  }
}

/** Calls a hook and waits for what it gives. Rejects with what it throws, and with `HookTimeoutError`. */
export function callHook(name: string, timeoutMs: number, hook: () => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const requested = Promise.resolve().then(hook);
    const timer = systemClock.setTimer(() => {
      reject(new HookTimeoutError(name, timeoutMs));
    }, timeoutMs);
    timer.setRef?.(false);
    void requested.then(resolve, reject).finally(() => timer.cancel());
  });
}
