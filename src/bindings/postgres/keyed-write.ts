/**
 * A write with an idempotency key. The key, the write and its result are one
 * transaction: either all of them are there, or none. So a write that is sent
 * again finds the result, or is made.
 */
import { createHash } from 'node:crypto';
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import {
  fromJsonValue,
  toJsonValue,
} from '../../protocol/codec/json-values.ts';
import { toCanonicalString } from '../../values/canonical-string.ts';
import type { Page } from '../shared/statements/page.ts';
import { parsePosition, type PostgresPosition } from './position.ts';
import type { Outcomes, RunBatch, SqlStatement } from './postgres-server.ts';
import { findSqlState, toCorrectableError } from './sql-errors.ts';
import { MIGRATIONS_HINT, type SqlPlan } from './sql-plan.ts';

const BEGIN: SqlStatement = { text: 'begin', values: [] };
const COMMIT: SqlStatement = { text: 'commit', values: [] };
const ROLLBACK: SqlStatement = { text: 'rollback', values: [] };

const UNIQUE_VIOLATION = '23505';

export interface KeyedWrite {
  readonly operation: Operation;
  readonly plan: SqlPlan;
  readonly key: string;
  /** The name of the table of keys, quoted. */
  readonly table: string;
  readonly position: SqlStatement;
}

export interface WrittenPage {
  readonly page: Page;
  readonly position: PostgresPosition | undefined;
}

/** Makes the write, or returns the result of the same write. */
export async function writeOnceForKey(
  run: RunBatch,
  write: KeyedWrite,
): Promise<WrittenPage> {
  const { plan, key, table } = write;
  const identity = identify(write.operation);
  // Another transaction with this key is awaited here, until it ends.
  const claim: SqlStatement = {
    text: `insert into ${table} (key, operation) values ($1, $2)`,
    values: [key, identity],
  };
  const [, claimed, written] = await run([BEGIN, claim, plan.statement]);
  if (written?.status !== 'fulfilled') {
    const reasons = [claimed, written].flatMap(getReason);
    if (claimed?.status === 'rejected' && isTaken(claimed.reason))
      return await readResult(run, write, identity);
    await run([ROLLBACK]);
    throw toError(plan, reasons[0], true);
  }

  const page = written.value;
  if (plan.isHeldBack?.(page) === true) {
    await run([ROLLBACK]);
    return { page, position: undefined };
  }
  const store: SqlStatement = {
    text: `update ${table} set result = $2 where key = $1`,
    values: [key, encodePage(page)],
  };
  const outcomes = await run([store, COMMIT, write.position]);
  const [stored, committed, positionRead] = outcomes;
  if (stored?.status === 'rejected') throw toError(plan, stored.reason, false);
  if (committed?.status === 'rejected')
    throw toError(plan, committed.reason, false);
  return { page, position: readPosition(positionRead) };
}

async function readResult(
  run: RunBatch,
  { plan, key, table, position }: KeyedWrite,
  identity: string,
): Promise<WrittenPage> {
  const select: SqlStatement = {
    text: `select operation, result from ${table} where key = $1`,
    values: [key],
  };
  const [, found, positionRead] = await run([ROLLBACK, select, position]);
  if (found?.status !== 'fulfilled') throw toError(plan, found?.reason, false);
  const [row] = found.value.rows;
  if (row?.['operation'] === identity)
    return {
      page: decodePage(row['result']),
      position: readPosition(positionRead),
    };
  const message =
    'idempotencyKey: the key was used before, for another operation or other arguments. The write was not applied. Use a new key for each operation.';
  throw new CorrectableError('INVALID_ARGUMENT', message, {
    field: 'idempotencyKey',
  });
}

/** Returns the same text for the same operation with equal arguments. */
function identify({ name, args }: Operation): string {
  const text =
    toCanonicalString(args, { isLoose: true }) ??
    JSON.stringify(toJsonValue(args));
  return `${name} ${createHash('sha256').update(text).digest('base64url')}`;
}

function encodePage({ rows, changedRows }: Page): string {
  return JSON.stringify(toJsonValue({ rows, changedRows }));
}

function decodePage(result: unknown): Page {
  const { rows, changedRows } = fromJsonValue(result) as Page;
  return { rows, changedRows, pageState: undefined };
}

function readPosition(
  outcome: Outcomes[number] | undefined,
): PostgresPosition | undefined {
  return outcome?.status === 'fulfilled'
    ? parsePosition(outcome.value.rows[0])
    : undefined;
}

function getReason(outcome: Outcomes[number] | undefined): unknown[] {
  return outcome?.status === 'rejected' ? [outcome.reason] : [];
}

function isTaken(reason: unknown): boolean {
  return findSqlState(reason) === UNIQUE_VIOLATION;
}

function toError(
  { name }: SqlPlan,
  reason: unknown,
  isUncommitted: boolean,
): unknown {
  return toCorrectableError(reason, {
    name,
    access: 'write',
    isReplica: false,
    isUncommitted,
    hint: MIGRATIONS_HINT,
  });
}
