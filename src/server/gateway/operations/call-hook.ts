/** Calls of hooks and of the hosted binding: whatever they do, the process goes on. */
import { systemClock } from '../../../correctable/clock.ts';
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/validate.ts';

const ignore = (): void => {};

/** Handles the promise of a hook that should have returned none: an unhandled rejection ends the process. */
export function ignoreRejection(value: unknown): void {
  if (isThenable(value)) Promise.resolve(value).then(ignore, ignore);
}

export class HookTimeoutError extends CorrectableError {
  constructor(name: string, timeoutMs: number) {
    super('UNAVAILABLE', `${name} gave no answer within ${timeoutMs} ms; nothing was done`);
  }
}

/** Whether a hook could not decide, rather than rejected: no answer in time, or a retryable error of this package. */
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
