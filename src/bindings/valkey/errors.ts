/** Converts failures of Valkey and Redis to those of a Correctable. */
import { CorrectableError, isCorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import {
  describeError,
  getErrorCode,
  isCertificateError,
  isCommandRefused,
  NoConnectionError,
} from '../shared/redis/redis-errors.ts';

/** A refusal that a retry meets again, by its first word. */
const LASTING: Readonly<Record<string, ErrorCode>> = {
  ERR: 'FINAL_FAILED',
  MOVED: 'UNSUPPORTED',
  ASK: 'UNSUPPORTED',
};

const ADVICE: Partial<Readonly<Record<ErrorCode, string>>> = {
  UNAUTHENTICATED: ' Correct the option redisOptions, or the user.',
  FORBIDDEN: ' Correct the rights of the user.',
  UNSUPPORTED: ' A Redis Cluster is not supported here.',
};

/** Returns the error to report. A write that may have been made is `UNKNOWN`. */
export function toCorrectableError(
  error: unknown,
  { name, access }: Operation,
  server: string,
): CorrectableError {
  if (isCorrectableError(error)) return error;
  const text = describeError(error);
  if (error instanceof NoConnectionError)
    return createRefusal(error, `${name}: valkey: ${server}: ${text}. Nothing was sent.`);
  const isWrite = access === 'write';
  if (isCommandRefused(error)) {
    const outcome = isWrite ? 'Nothing was written.' : 'Nothing was read.';
    return createRefusal(error, `${name}: ${server}: ${text}. ${outcome}`);
  }
  const message = isWrite
    ? `${name}: the write was sent and may have been made: ${text}.`
    : `${name}: ${server} gave no answer: ${text}. Nothing was read.`;
  return new CorrectableError(isWrite ? 'UNKNOWN' : 'UNAVAILABLE', message, {
    cause: error,
  });
}

function createRefusal(error: Error, message: string): CorrectableError {
  const word = error.message.split(' ', 1)[0] as string;
  const refused = getErrorCode(error);
  const code = refused === 'UNAVAILABLE' ? (LASTING[word] ?? refused) : refused;
  return new CorrectableError(code, `${message}${ADVICE[code] ?? ''}`, {
    cause: error,
    ...(isCertificateError(error) && { retryable: false }),
  });
}

/** Returns the error of an operation whose primary was demoted, or replaced. */
export function createNoPrimaryError(
  { name, access }: Operation,
  problem: string,
  advice = '',
): CorrectableError {
  const outcome = access === 'write' ? 'written' : 'read';
  const message = `${name}: the server at "primary" ${problem}. Nothing was ${outcome}. Check the option primary: after a failover it must lead to the new primary.${advice}`;
  return new CorrectableError('UNAVAILABLE', message);
}

/** Returns the error of a write that a failover may lose. */
export function createUnsafeWriteError(
  { name }: Operation,
  problem: string,
  cause?: unknown,
): CorrectableError {
  const message = `${name}: ${problem}. The write was made at the primary, and a failover may lose it.`;
  return new CorrectableError('UNKNOWN', message, { cause });
}
