/**
 * The errors of submissions whose site ends before them, or whose view cannot
 * be delivered.
 */
import {
  CorrectableError,
  isCorrectableError,
} from '../../../correctable/errors.ts';
import type { Access } from '../../../correctable/operation.ts';
import type { Stage } from '../../records/submissions.ts';

/**
 * Returns the failure of a submission whose site or connection ends before it:
 * an update has reached the site, and its result is unknown.
 */
export function interruptedError(
  access: Access,
  reason: string,
  cause?: Error,
): CorrectableError {
  const message =
    access === 'write'
      ? 'The write may take effect all the same.'
      : 'The read can be retried.';
  return new CorrectableError(
    access === 'write' ? 'UNKNOWN' : 'UNAVAILABLE',
    `${reason}. ${message}`,
    { cause },
  );
}

/**
 * Returns the failure of a submission whose view could not be delivered. An
 * update stays done, as at a gateway. The failure is an ordinary one only for a
 * preview and for a read.
 */
export function undeliveredError(
  access: Access,
  stage: Stage,
  cause: unknown,
): CorrectableError {
  const reason = isCorrectableError(cause)
    ? cause.message
    : 'it cannot be read, or its listener threw';
  if (access === 'write' && stage !== 'tentative') {
    const message = `The write took access, but its result cannot be sent: ${reason}`;
    return new CorrectableError('UNKNOWN', message, { cause });
  }
  return isCorrectableError(cause)
    ? cause
    : new CorrectableError(
        'FINAL_FAILED',
        `The result cannot be sent: ${reason}`,
        { cause },
      );
}
