import type { SubmissionStatus } from '../binding.ts';
import {
  type CorrectableError,
  type ErrorCode,
  type ErrorDetails,
  getErrorDetails,
} from '../errors.ts';
import { getEffectState, WRITE } from '../side-effects.ts';
import { type Source } from '../source.ts';
import { createInterruptionError, createOperationError } from '../operation-error.ts';

/**
 * Creates the error of an operation that its client gives up. Uses what the binding reports of the
 * submission (COR-10, COR-14). A `TIMEOUT` becomes `UNAVAILABLE` for a read if the binding reports
 * an obstacle, and for an update that was certainly not sent. If the obstacle is an error that a
 * retry does not help, the operation fails with the code of that error instead.
 */
export function createSubmissionError<T>(
  source: Source<T>,
  code: ErrorCode,
  message: string,
  { level, cause }: ErrorDetails,
): CorrectableError {
  let mayHaveBeenSent: boolean | undefined;
  let blockedBy: SubmissionStatus['blockedBy'];
  let levelErrors: SubmissionStatus['levelErrors'];
  try {
    ({ mayHaveBeenSent, blockedBy, levelErrors } =
      source.submissionStatus ?? ({} as Partial<SubmissionStatus>));
  } catch (error) {
    // If the binding fails to report its status, the status counts as unknown.
    source.environment.reportUncaught(error);
  }
  const done = getEffectState(source);
  const isUnsent = done === WRITE && mayHaveBeenSent === false;
  const isUnavailable = code === 'TIMEOUT' && (isUnsent || (done !== WRITE && blockedBy));
  const rejection = isUnavailable && !blockedBy?.retryable ? blockedBy : undefined;
  const facts = {
    ...(rejection && getErrorDetails(rejection)),
    levelErrors,
    level,
    cause: cause ?? blockedBy,
  };
  const reason = blockedBy ? `: ${blockedBy.message}` : '';
  const actual = isUnavailable ? (rejection?.code ?? 'UNAVAILABLE') : code;
  return isUnsent
    ? createOperationError(source, actual, `${message}; it was not sent${reason}`, facts)
    : createInterruptionError(source, actual, message + reason, facts);
}
