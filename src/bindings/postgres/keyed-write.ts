/**
 * A write with an idempotency key. The key, the write and its result are one transaction: either
 * all of them are there, or none. So a write that is sent again finds the result, or is made.
 */
import { createHash } from 'node:crypto';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { fromJsonValue, toJsonField, toJsonValue } from '../../protocol/codec/json-values.ts';
import { toCanonicalString } from '../../values/canonical-string.ts';
import type { Page } from '../shared/statements/page.ts';
import { createKeyBusyError, createKeyClaim, isKeyBusy, type KeyClaim } from './key-claim.ts';
import { parsePosition, type PostgresPosition } from './position.ts';
import type {
  LentConnection,
  Outcomes,
  ParsePage,
  SqlPage,
  SqlStatement,
} from './connections/server.ts';
import { createOldPrimaryError, isFenced, toCorrectableError } from './errors.ts';
import { findSqlState } from './sql-state.ts';
import { MIGRATIONS_HINT, type SqlPlan } from './plan.ts';

const BEGIN: SqlStatement = { text: 'begin', values: [] };
const COMMIT: SqlStatement = { text: 'commit', values: [] };
const ROLLBACK: SqlStatement = { text: 'rollback', values: [] };

const UNIQUE_VIOLATION = '23505';

export interface KeyedWrite extends KeyClaim {
  readonly plan: SqlPlan;
  /** What fails at an old primary. Absent without a session. */
  readonly fence?: SqlStatement | undefined;
  readonly position: SqlStatement;
}

export interface WrittenPage {
  readonly page: Page;
  readonly position: PostgresPosition | undefined;
}

/** Makes the write, or returns the result of the same write. */
export async function writeOnceForKey(
  { run, parse }: LentConnection,
  write: KeyedWrite,
): Promise<WrittenPage> {
  const { plan, key, table } = write;
  const isParsed = plan.statement.columns === 'application';
  const statement: SqlStatement = isParsed ? { ...plan.statement, columns: 'raw' } : plan.statement;
  const before = [BEGIN, ...(write.fence === undefined ? [] : [write.fence])];
  const claim = createKeyClaim(write);
  const outcomes = await run([...before, ...claim, statement]);
  const [, fenced] = outcomes.slice(0, before.length);
  const [, claimed, , written] = outcomes.slice(before.length);
  if (written?.status !== 'fulfilled') {
    if (fenced?.status === 'rejected' && isFenced(fenced.reason)) {
      await run([ROLLBACK]);
      throw createOldPrimaryError(plan.name, 'written', fenced.reason);
    }
    const reasons = [fenced, claimed, written].flatMap(getReason);
    if (claimed?.status === 'rejected' && isTaken(claimed.reason))
      return await readResult({ run, parse }, write);
    await run([ROLLBACK]);
    if (claimed?.status === 'rejected' && isKeyBusy(claimed.reason))
      throw createKeyBusyError(plan.name, claimed.reason);
    throw toError(plan, reasons[0], true);
  }

  let page: Page;
  try {
    page = isParsed ? parse(written.value) : written.value;
  } catch (cause) {
    await run([ROLLBACK]);
    throw createParserError(plan, cause, 'Nothing was written.');
  }
  if (plan.isHeldBack?.(page) === true) {
    await run([ROLLBACK]);
    return { page, position: undefined };
  }
  const store: SqlStatement = {
    text: `update ${table} set result = $2 where key = $1`,
    values: [key, encodePage(written.value)],
  };
  const [stored, committed, positionRead] = await run([store, COMMIT, write.position]);
  if (stored?.status === 'rejected') throw toError(plan, stored.reason, false);
  if (committed?.status === 'rejected') throw toError(plan, committed.reason, false);
  return { page, position: readPosition(positionRead) };
}

async function readResult(
  { run, parse }: LentConnection,
  { plan, key, identity, table, position }: KeyedWrite,
): Promise<WrittenPage> {
  const select: SqlStatement = {
    text: `select operation, result::text from ${table} where key = $1`,
    values: [key],
  };
  const [, found, positionRead] = await run([ROLLBACK, select, position]);
  if (found?.status !== 'fulfilled') throw toError(plan, found?.reason, false);
  const [row] = found.value.rows;
  if (row?.['operation'] === identity)
    return {
      page: readStoredPage(plan, row['result'], parse),
      position: readPosition(positionRead),
    };
  const message =
    'idempotencyKey: the key was used before, for another operation or other arguments. The write was not applied. Use a new key for each operation.';
  throw new CorrectableError('INVALID_ARGUMENT', message, {
    field: 'idempotencyKey',
  });
}

/**
 * Returns the same text for the same operation with equal arguments.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for arguments that are no data
 */
export function identifyOperation({ name, args }: Operation): string {
  const text = toCanonicalString(args, { isLoose: true }) ?? JSON.stringify(toJsonArgs(args));
  return `${name} ${createHash('sha256').update(text).digest('base64url')}`;
}

function toJsonArgs(args: unknown): unknown {
  try {
    return toJsonField(args, 'args');
  } catch (cause) {
    if (!isCorrectableError(cause)) throw cause;
    const { message, field } = cause;
    throw new CorrectableError('INVALID_ARGUMENT', message, { cause, field });
  }
}

/**
 * The columns are kept as PostgreSQL has sent them: a value of the application, such as an interval
 * or a date without an end, may have no JSON.
 */
function encodePage({ rows, changedRows, columnTypes }: SqlPage): string {
  return JSON.stringify(toJsonValue({ rows, changedRows, columnTypes }));
}

function readStoredPage(plan: SqlPlan, result: unknown, parse: ParsePage): Page {
  const stored = fromJsonValue(JSON.parse(result as string)) as SqlPage;
  const page = { ...stored, pageState: undefined };
  if (page.columnTypes === undefined) return page;
  try {
    return parse(page);
  } catch (cause) {
    throw createParserError(plan, cause, 'The write was made.');
  }
}

/** Returns the error for columns that a parser of the application refuses. */
function createParserError({ name }: SqlPlan, cause: unknown, outcome: string): CorrectableError {
  const message = `${name}: a column of the result cannot be read: ${String(cause)}. ${outcome} Check the type parsers of pg.`;
  return new CorrectableError('INVALID_VALUE', message, { cause });
}

function readPosition(outcome: Outcomes[number] | undefined): PostgresPosition | undefined {
  return outcome?.status === 'fulfilled' ? parsePosition(outcome.value.rows[0]) : undefined;
}

function getReason(outcome: Outcomes[number] | undefined): unknown[] {
  return outcome?.status === 'rejected' ? [outcome.reason] : [];
}

function isTaken(reason: unknown): boolean {
  return findSqlState(reason) === UNIQUE_VIOLATION;
}

function toError({ name }: SqlPlan, reason: unknown, isUncommitted: boolean): unknown {
  return toCorrectableError(reason, {
    name,
    access: 'write',
    isReplica: false,
    isUncommitted,
    hint: MIGRATIONS_HINT,
  });
}
