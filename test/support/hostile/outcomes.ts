/** What a caller was told about an update, held against how often the store executed it. */
import { isCorrectableError } from '../../../src/correctable/errors.ts';

/** What a caller was told. */
export interface Told {
  readonly code: string;
  readonly retryable: boolean;
  readonly message: string;
}

/** Waits for the end of an operation. */
export function toldOf(operation: PromiseLike<unknown>): Promise<Told> {
  return Promise.resolve(operation).then(
    () => ({ code: 'success', retryable: false, message: '' }),
    (error: unknown) => {
      if (isCorrectableError(error)) return { code: error.code, retryable: error.retryable, message: error.message };
      return { code: 'untyped', retryable: false, message: String(error) };
    },
  );
}

/** What is said at a door: that nothing was done, whether it may be asked again or not. */
const DENIES =
  /^(ABORTED|FORBIDDEN|INVALID_ARGUMENT|OVERLOADED|UNAUTHENTICATED|UNAVAILABLE|UNKNOWN_LEVEL|UNSUPPORTED)$/;

/** Says what is untrue in what the caller of an update was told; `undefined` where it is true. */
export function untruth(reported: Told | undefined, executed: number): string | undefined {
  if (executed > 1) return `executed ${executed} times, told ${reported?.code ?? 'nothing'}`;
  if (reported === undefined) return 'was never told how it ended';
  const { code, retryable, message } = reported;
  const stated = `told ${code}${retryable ? ', retryable' : ''} "${message}"`;
  if (code === 'success') return executed === 0 ? `${stated}, never executed` : undefined;
  if (code === 'untyped') return stated;
  if (code === 'TIMEOUT') return `${stated}: a write has left (UNKNOWN) or has not (UNAVAILABLE); executed ${executed}`;
  const isDenied = retryable || DENIES.test(code);
  return isDenied && executed > 0 ? `${stated}, executed all the same` : undefined;
}
