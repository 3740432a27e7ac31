/** The outcome of a write as its caller got it, compared with how often the store executed it. */
import { isCorrectableError } from '../../../src/correctable/errors.ts';

/** The outcome that a caller got. */
export interface CallOutcome {
  readonly code: string;
  readonly retryable: boolean;
  readonly message: string;
}

/** Waits for the end of an operation. */
export function getCallOutcome(operation: PromiseLike<unknown>): Promise<CallOutcome> {
  return Promise.resolve(operation).then(
    () => ({ code: 'success', retryable: false, message: '' }),
    (error: unknown) => {
      if (isCorrectableError(error))
        return { code: error.code, retryable: error.retryable, message: error.message };
      return { code: 'untyped', retryable: false, message: String(error) };
    },
  );
}

/** Errors before execution: the store did not execute the write. Some of them may be retried. */
const DENIES =
  /^(ABORTED|FORBIDDEN|INVALID_ARGUMENT|OVERLOADED|UNAUTHENTICATED|UNAVAILABLE|UNKNOWN_LEVEL|UNSUPPORTED)$/;

/** Returns what is wrong with the reported outcome of a write, or `undefined` if it is correct. */
export function untruth(reported: CallOutcome | undefined, executed: number): string | undefined {
  if (executed > 1) return `executed ${executed} times, reported ${reported?.code ?? 'nothing'}`;
  if (reported === undefined) return 'never ended';
  const { code, retryable, message } = reported;
  const stated = `reported ${code}${retryable ? ', retryable' : ''} "${message}"`;
  if (code === 'success') return executed === 0 ? `${stated}, never executed` : undefined;
  if (code === 'untyped') return stated;
  if (code === 'TIMEOUT')
    return `${stated}: a write has left (UNKNOWN) or has not (UNAVAILABLE); executed ${executed}`;
  const isDenied = retryable || DENIES.test(code);
  return isDenied && executed > 0 ? `${stated}, executed all the same` : undefined;
}
