/** Failures as plain data in logs, and as errors for clients. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { toWellFormed } from '../../../protocol/codec/tagged-values.ts';
import type { Origin, Origins } from './origin.ts';
import type { Failure } from './records.ts';
import type { IdTableLimits } from './retention-limits.ts';

interface SessionLimits {
  readonly origins: Origins;
  readonly site: Origin;
  readonly sessionTimeoutMs: number;
}

/** The advice for a write that may have taken effect, or may still do so. */
export const UNKNOWN_ADVICE =
  'Retry only with the same idempotency key, or it may be done twice. Without a key, read the state once all sites can be reached.';

/** When to retry at a start that no other site has confirmed yet. */
const CONFIRM_RETRY_MS = 1000;

/**
 * Returns the plain form of an error, as a log keeps it. Generators may cut text anywhere, and logs
 * take no halves of surrogate pairs.
 */
export function toFailure({ code, message, field, domain }: CorrectableError): Failure {
  const retained = { code, message: toWellFormed(message) };
  const named = field === undefined ? retained : { ...retained, field: toWellFormed(field) };
  return domain === undefined ? named : { ...named, domain };
}

/** Formats a thrown value for a message. It may have no string form. */
export function formatThrown(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return typeof thrown;
  }
}

/** Returns the error of a failure. */
export function toError({ code, message, field, domain }: Failure): CorrectableError {
  return new CorrectableError(code, message, { field, domain });
}

/** The version in force, or of written data, is newer than this program or its service. */
export class NeedsNewerVersionError extends Error {
  override readonly name = 'NeedsNewerVersionError';

  constructor(problem: string) {
    super(`this site needs a newer version: ${problem}`);
  }
}

/**
 * Returns the error of an identifier that has left the tables: the client had acknowledged its
 * result, or very many operations came after it.
 */
export function expiredError(): CorrectableError {
  return new CorrectableError(
    'REPLY_EXPIRED',
    'The operation ended long ago and its answer is no longer kept. Do not ask.',
  );
}

export function keyTakenError(): CorrectableError {
  const message =
    'idempotencyKey: the key was used before, for another operation or other arguments. The write was not applied. Use a new key for each operation.';
  return new CorrectableError('INVALID_ARGUMENT', message, {
    field: 'idempotencyKey',
  });
}

/**
 * The log keeps this failure as the outcome of the idempotency key: a retry with the same key gets
 * it again.
 */
export function concludedError(error: CorrectableError): CorrectableError {
  const message = `${error.message} This is the final outcome of the idempotency key: retry with a new key.`;
  return new CorrectableError(error.code, message, {
    ...error,
    cause: error.cause,
    retryable: false,
  });
}

/** The parts of an operation that name the reason why it was given up. */
interface AbandonedOperation {
  readonly identity?: { readonly hop: number } | undefined;
  readonly hasExpired?: boolean | undefined;
}

/**
 * Returns the error of an operation that was given up before it was done. A client whose process
 * was held up gets it before its own timer ends, so it names the reason that came first.
 */
export function abandonedError({ hasExpired = false }: AbandonedOperation): CorrectableError {
  const reason = hasExpired ? 'It timed out' : 'It was cancelled';
  const message = `${reason} while it waited for the red order or for its session. Nothing was done.`;
  return new CorrectableError(hasExpired ? 'TIMEOUT' : 'ABORTED', message);
}

/**
 * Returns the error of a caller that left, or that retried while others wait for the same
 * operation.
 */
export function callerLeftError(): CorrectableError {
  const message = 'It was cancelled here, or retried too often. It may take effect all the same.';
  return new CorrectableError('UNKNOWN', message);
}

/**
 * Returns the error of a named operation that was dropped here. Another site, or an earlier start
 * of this one, may have begun it.
 */
export function droppedError(operation: AbandonedOperation, isAllKnown: boolean): CorrectableError {
  const { identity } = operation;
  return identity === undefined || (identity.hop === 0 && isAllKnown)
    ? abandonedError(operation)
    : callerLeftError();
}

/**
 * Returns the error of a client that gets its results and does not acknowledge them, so that no
 * more may be kept of it.
 */
export function unacknowledgedError({
  maxOperationsPerClient,
  maxBytesPerClient,
}: IdTableLimits): CorrectableError {
  const most = [
    ...(maxOperationsPerClient === undefined ? [] : [`${maxOperationsPerClient} operations`]),
    ...(maxBytesPerClient === undefined ? [] : [`${maxBytesPerClient} bytes of answers`]),
  ].join(' or ');
  const message = `The site keeps what it may of a client that does not acknowledge: ${most}. Nothing was done: acknowledge the answers that have come.`;
  return new CorrectableError('OVERLOADED', message);
}

export function redFullError(maxRedInFlight: number): CorrectableError {
  const message = `${maxRedInFlight} red writes and strong reads wait for the red order at this site, as many as may. Nothing was done: try later; blue writes and causal reads go on.`;
  return new CorrectableError('OVERLOADED', message);
}

export function redLogFullError(because: string): CorrectableError {
  const message = `The red log has little room left: ${because}. Nothing was done: try later; blue writes and causal reads go on.`;
  return new CorrectableError('OVERLOADED', message);
}

/** How soon a retry may succeed. */
const AWAY_RETRY_MS = 1000;

/**
 * Returns the error of an operation that has to be ordered and was not proposed, since no site can
 * order it now.
 */
export function redAwayError(waitsFor: string): CorrectableError {
  const message = `Red writes and strong reads wait for ${waitsFor}. Nothing was done; blue writes and causal reads go on. Retry once it is back.`;
  return new CorrectableError('UNAVAILABLE', message, {
    retryAfterMs: AWAY_RETRY_MS,
  });
}

/**
 * Returns the error of an operation that may have been proposed by now, here or at another site.
 */
export function redAwayUnknownError(waitsFor: string): CorrectableError {
  const message = `Red writes wait for ${waitsFor}. This one may have been proposed: it may still take effect.`;
  return new CorrectableError('UNKNOWN', `${message} ${UNKNOWN_ADVICE}`);
}

/**
 * Returns the error of a site that takes no more of the red log, because the log does not continue
 * as it should.
 */
export function redHaltedError(because: string): CorrectableError {
  const message = `The red log cannot be relied upon at this site: ${because}. Nothing was done; blue writes and causal reads go on, red writes and strong reads once the log is repaired and the site restarted: retry then.`;
  return new CorrectableError('UNAVAILABLE', message);
}

export function haltedFullError(maxBytes: number): CorrectableError {
  const message = `The red log of this site has halted, and the site has come to keep ${maxBytes} bytes until it goes on, as many as it may. Nothing was done: repair the log and restart the site, or ask another site meanwhile; causal reads go on.`;
  return new CorrectableError('OVERLOADED', message);
}

export function memoryFullError(maxBytes: number): CorrectableError {
  const message = `The site has nearly used the ${maxBytes} bytes of memory that it may. Nothing was done: remove rows, give the site more memory, or ask another site meanwhile; causal reads and removals go on.`;
  return new CorrectableError('OVERLOADED', message);
}

/** Returns the error of a start that may run on an older directory. */
export function unconfirmedError(): CorrectableError {
  const message =
    'No other site has confirmed this start of the site, so another node may have gone on as this site. Nothing was done: ask another site, or retry once the links to the others are up; reads are served.';
  return new CorrectableError('UNAVAILABLE', message, {
    retryAfterMs: CONFIRM_RETRY_MS,
  });
}

/**
 * Returns the error of an operation that is refused now, but that another site or an earlier start
 * of this one may have begun.
 */
export function mayHaveStartedError(): CorrectableError {
  const message =
    'The site takes no more of its kind now, and the operation may have been begun before: it may still take effect.';
  return new CorrectableError('UNKNOWN', `${message} ${UNKNOWN_ADVICE}`);
}

export function rightsUnreachableError(
  name: { readonly table: string; readonly field: string } | undefined,
  waitedMs: number,
): CorrectableError {
  const field = `${name?.table}.${name?.field}`;
  const message = `What is left of ${field} belongs to other sites, which did not hand it in within ${waitedMs} ms. Nothing was done: try again.`;
  return new CorrectableError('UNAVAILABLE', message, { field });
}

export function rightsFullError(maxWaiting: number): CorrectableError {
  const message = `${maxWaiting} operations wait at this site for rights that other sites hold, as many as may. Nothing was done: try later, or at another site; what takes within the rights of this site goes on.`;
  return new CorrectableError('OVERLOADED', message);
}

export function joiningError(): CorrectableError {
  const message =
    'The site is about to join, and takes no writes yet. Nothing was done: retry, or ask another site.';
  return new CorrectableError('UNAVAILABLE', message);
}

export function replicaBehindError({
  origins,
  site,
  sessionTimeoutMs,
}: SessionLimits): CorrectableError {
  const message = `Site ${origins.getName(site)} did not get what the session has seen within ${sessionTimeoutMs} ms. Nothing was done: retry, or go back to the site before.`;
  return new CorrectableError('REPLICA_BEHIND', message);
}
