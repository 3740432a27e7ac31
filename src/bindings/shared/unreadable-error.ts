/** The error for a stored value that a binding cannot decode. It is the same in all bindings. */
import { CorrectableError } from '../../correctable/errors.ts';
import { getErrorMessage } from '../../values/error-message.ts';

export interface UnreadableValue {
  /** The name of the operation that reads it. */
  readonly operation: string;
  readonly key?: string | undefined;
  /** Names the value. Default: by its key */
  readonly what?: string | undefined;
  readonly cause: unknown;
  /** What to do. Default: write it again */
  readonly advice?: string | undefined;
}

/** The advice of a store whose codec is an option. */
export const CODEC_ADVICE = 'Write it again, or pass the codec that wrote it.';

export function createUnreadableError({
  operation,
  key,
  what = `the value of the key ${JSON.stringify(key)}`,
  cause,
  advice = 'Write it again.',
}: UnreadableValue): CorrectableError {
  const reason = getErrorMessage(cause).replace(/\.$/, '');
  const message = `${operation}: ${what} cannot be read: ${reason}. Another program may have written it. Nothing was changed. ${advice}`;
  return new CorrectableError('INVALID_VALUE', message, { key, cause });
}
