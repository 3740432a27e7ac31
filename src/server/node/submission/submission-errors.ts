/**
 * The errors of submissions that a site does not take, that it ends before, or whose view cannot be
 * delivered.
 */
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import type { Access } from '../../../correctable/operation.ts';
import type { Stage } from '../../site/answer.ts';

/**
 * Returns the failure of a submission whose site or connection ends before it: an update has
 * reached the site, and its result is unknown.
 */
export function interruptedError(access: Access, reason: string, cause?: Error): CorrectableError {
  const message =
    access === 'write' ? 'The write may take effect all the same.' : 'The read can be retried.';
  return new CorrectableError(
    access === 'write' ? 'UNKNOWN' : 'UNAVAILABLE',
    `${reason}. ${message}`,
    { cause },
  );
}

/**
 * Returns the failure of a submission whose view could not be delivered. An update stays done, as
 * at a gateway. The failure is an ordinary one only for a preview and for a read.
 */
export function undeliveredError(access: Access, stage: Stage, cause: unknown): CorrectableError {
  const reason = isCorrectableError(cause)
    ? cause.message
    : 'it cannot be read, or its listener threw';
  if (access === 'write' && stage !== 'tentative') {
    const message = `The write took access, but its result cannot be sent: ${reason}`;
    return new CorrectableError('UNKNOWN', message, { cause });
  }
  return isCorrectableError(cause)
    ? cause
    : new CorrectableError('FINAL_FAILED', `The result cannot be sent: ${reason}`, { cause });
}

/** Why a site has ended. */
export interface SiteFailure {
  readonly reason: string;
  readonly cause?: Error;
  /** What an operator has to do if the site does not come back. */
  readonly advice?: string;
}

/** When a client may retry after a refusal for lack of room. */
const FULL_RETRY_MS = 1000;

export function overloadedError(maxInFlight: number): CorrectableError {
  const message = `The site has ${maxInFlight} operations in flight, as many as it takes. Nothing was done: try later.`;
  return new CorrectableError('OVERLOADED', message);
}

export function fullError(because: string): CorrectableError {
  const message = `${because}. Nothing was done; reads are served, writes again once there is room.`;
  return new CorrectableError('UNAVAILABLE', message, {
    retryAfterMs: FULL_RETRY_MS,
  });
}

export function backlogError(maxBacklog: number): CorrectableError {
  const message = `Another site has been away for so long that ${maxBacklog} operations wait for it, as many as are kept.`;
  return new CorrectableError(
    'OVERLOADED',
    `${message} Nothing was done: writes go on once it is back, or was retired.`,
  );
}

export function siteStoppedError({ reason, cause, advice }: SiteFailure): CorrectableError {
  const message = `${reason}. Nothing was done${advice === undefined ? '' : `: ${advice}`}.`;
  return new CorrectableError('UNAVAILABLE', message, {
    cause,
    retryable: advice === undefined,
  });
}
