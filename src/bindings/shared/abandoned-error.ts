import { CorrectableError } from '../../correctable/errors.ts';

/** Creates the error of an update whose caller has left before it was sent. */
export function createAbandonedError(): CorrectableError {
  return new CorrectableError(
    'ABORTED',
    'given up before the update was sent: nothing was changed',
  );
}
