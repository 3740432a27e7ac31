/** Converts failures of PostgreSQL, by their SQLSTATE, to those of a Correctable. */
import { CorrectableError, isCorrectableError, type ErrorCode } from '../../correctable/errors.ts';
import type { Access } from '../../correctable/operation.ts';
import { isCodeError } from '../shared/code-error.ts';
import { ParserError } from './connections/column-parsers.ts';
import { isConnectError } from './connections/connect-error.ts';
import { findSqlState } from './sql-state.ts';
import { getErrorMessage } from '../../values/error-message.ts';

/** By SQLSTATE, or its class: the first two characters. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  '08': 'UNAVAILABLE',
  '0A': 'FINAL_FAILED', // not supported
  '21': 'FINAL_FAILED', // more rows than the statement allows
  '22': 'INVALID_ARGUMENT',
  '23': 'CONFLICT',
  '25001': 'FINAL_FAILED', // VACUUM in a transaction
  '25006': 'INVALID_ARGUMENT', // a read that changes data
  '26': 'FINAL_FAILED', // no such prepared statement
  '28': 'UNAUTHENTICATED', // a wrong password, at a connection of another library
  '2D': 'FINAL_FAILED', // a procedure that commits in a transaction
  '2F': 'FINAL_FAILED', // a function that must not do what it does
  '3D': 'FINAL_FAILED', // no such database
  '3F': 'FINAL_FAILED', // no such schema
  '40': 'CONFLICT',
  '42': 'FINAL_FAILED', // a statement, a table or a right is missing or wrong
  '44': 'CONFLICT',
  '53': 'OVERLOADED',
  '54': 'INVALID_ARGUMENT', // a value that is too large for an index
  '55P03': 'CONFLICT', // a lock that is not free
  '57': 'UNAVAILABLE',
  '57014': 'TIMEOUT',
  P0: 'INVALID_ARGUMENT', // raised by a function
};

/**
 * Failures after which a commit may have been made: of the connection, a killed process, and of the
 * server itself. All others prove that nothing was done.
 */
const UNCERTAIN = /^(08|57P0|40003|58|XX|F0)/;

/** A prepared statement is missing, or is there already. */
const OTHER_CONNECTION = /^(26000|42P05)$/;
const POOLER_HINT =
  'A pooler changes the connection: set prepare: false, or use PgBouncer 1.21 or later.';

const NO_TRANSACTION = /^(25001|2D)/;
const NO_TRANSACTION_HINT =
  'It cannot run in a transaction, as reads do, and writes in a session or with an idempotencyKey: run it as a write without both.';

/** A retry fails in the same way, although `CONFLICT` suggests otherwise. */
const NOT_RETRYABLE = /^(23|44)/;

export interface FailedStatement {
  readonly name: string;
  readonly access: Access;
  readonly isReplica: boolean;
  /** Whether a write certainly was not made, since no commit was sent. */
  readonly isUncommitted?: boolean | undefined;
  /** Whether a write may have committed a part of itself before it failed. */
  readonly mayHaveCommitted?: boolean | undefined;
  /** What to do if there is no such table. */
  readonly hint?: string | undefined;
}

/** Returns the error to report. A write that may have been made is `UNKNOWN`. */
export function toCorrectableError(
  error: unknown,
  { name, access, isReplica, isUncommitted, mayHaveCommitted, hint }: FailedStatement,
): unknown {
  if (isCorrectableError(error)) return error;
  const text = getErrorMessage(error);
  const isWrite = access === 'write';
  const isUnreadable = error instanceof ParserError || isCodeError(error);
  if (isUnreadable && !isWrite) {
    const message = `${name}: the answer of PostgreSQL cannot be read: ${text}. Nothing was changed. Check the type parsers of pg.`;
    return new CorrectableError('INVALID_VALUE', message, { cause: error });
  }
  const sqlState = isUnreadable ? undefined : findSqlState(error);
  const isUncertain = sqlState === undefined || UNCERTAIN.test(sqlState);
  if (isWrite && isUncertain && isUncommitted !== true) {
    const message = `${name}: the write was sent and may have been made: ${text}`;
    return new CorrectableError('UNKNOWN', message, { cause: error });
  }
  if (isWrite && sqlState === '25006') return createNoPrimaryError(name, 'written', error);
  const code = getCode(sqlState, isReplica);
  const advice = findAdvice(sqlState, hint);
  // A fault of the server: its caller, who may be a stranger, gets no names of tables. They are in
  // the cause.
  const reason =
    code === 'FINAL_FAILED' ? `PostgreSQL refused the statement (SQLSTATE ${sqlState})` : text;
  if (mayHaveCommitted === true) {
    const message = `${name}: ${reason}. Its SQL may have committed a part before that. Read the data to see what was written.`;
    return new CorrectableError('UNKNOWN', message, { cause: error });
  }
  const outcome = isWrite ? 'Nothing was written.' : 'Nothing was read.';
  const message = [`${name}: ${reason}.`, outcome, ...advice].join(' ');
  return new CorrectableError(code, message, {
    cause: error,
    ...(NOT_RETRYABLE.test(sqlState ?? '') && { retryable: false }),
  });
}

function findAdvice(sqlState: string | undefined, hint: string | undefined): string[] {
  if (NO_TRANSACTION.test(sqlState ?? '')) return [NO_TRANSACTION_HINT];
  if (OTHER_CONNECTION.test(sqlState ?? '')) return [POOLER_HINT];
  return sqlState === '42P01' && hint !== undefined ? [hint] : [];
}

/** Returns the error of a write whose transaction did not begin. */
export function createNoBeginError(name: string, cause: unknown): CorrectableError {
  const message = `${name}: its transaction did not begin, so the write was made without it: ${String(cause)}. Read the data to see what was written.`;
  return new CorrectableError('UNKNOWN', message, { cause });
}

/** Returns the error of an operation at a primary that is a replica. */
export function createNoPrimaryError(
  name: string,
  done: 'read' | 'written',
  cause?: unknown,
): CorrectableError {
  const problem =
    done === 'read' ? 'is a replica' : 'accepts no writes: it is a replica, or it is read-only';
  const message = `${name}: the server at "primary" ${problem}. Nothing was ${done}. Check the option primary: after a failover it must lead to the new primary.`;
  return new CorrectableError('UNAVAILABLE', message, { cause });
}

/** Returns the error of a session that has seen a newer primary. */
export function createOldPrimaryError(
  name: string,
  done: 'read' | 'written',
  cause?: unknown,
): CorrectableError {
  const message = `${name}: the server at "primary" is an old primary: this session has seen a newer timeline. Nothing was ${done}. Check the option primary: after a failover it must lead to the new primary. If an older backup was restored, open a new session.`;
  return new CorrectableError('UNAVAILABLE', message, { cause });
}

/** Returns whether the fence before a write has refused it. */
export function isFenced(reason: unknown): boolean {
  return findSqlState(reason) === '22P02' && /superseded/.test(String(reason));
}

/** Returns whether a write was refused because of the server, not of itself. */
export function isNoPrimaryError(error: unknown): boolean {
  if (!isCorrectableError(error, 'UNAVAILABLE')) return false;
  return findSqlState(error) === '25006' || isFenced(error.cause);
}

/** Failures of a connection, and of a server that stops or starts. */
const OF_SERVER = /^(08|57P)/;

/**
 * Returns whether the server has failed, and not only one statement: there is no connection, or it
 * was lost. PostgreSQL has refused a statement, or the replay has canceled it, if there is another
 * SQLSTATE.
 */
export function isServerFailure(error: unknown): boolean {
  if (isConnectError(error)) return true;
  if (isCorrectableError(error, 'INVALID_VALUE')) return false;
  const sqlState = findSqlState(error);
  if (sqlState !== undefined) return OF_SERVER.test(sqlState);
  return isCorrectableError(error, 'UNAVAILABLE');
}

/** Replay on a replica cancels reads of rows that it must remove (40001). */
function getCode(sqlState: string | undefined, isReplica: boolean): ErrorCode {
  if (sqlState === undefined) return 'UNAVAILABLE';
  if (isReplica && sqlState.startsWith('40')) return 'UNAVAILABLE';
  return CODES[sqlState] ?? CODES[sqlState.slice(0, 2)] ?? 'UNAVAILABLE';
}
