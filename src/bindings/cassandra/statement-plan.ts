/**
 * What is to be executed for one operation, and what its answer means: the same
 * for built-in operations and statements.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { Page, ReadStatement } from './read-strategy.ts';
import { writeClock } from './session-guarantees/write-clock.ts';
import { isSinglePartitionChange } from './statements/cql-text.ts';
import type { Statement } from './statements/statements.ts';

export interface ReadResult {
  readonly value: unknown;
  /**
   * When it was written, in microseconds since the epoch, where the answer says
   * so.
   */
  readonly version: number | undefined;
  /**
   * The objects that it shows, each with its version, where there is one: by
   * these a session is kept.
   */
  readonly objects: readonly ObjectVersion[] | undefined;
}

export interface ObjectVersion {
  readonly id: string;
  /** `undefined` where it is not there. */
  readonly version: number | undefined;
  /**
   * Distinguishes its value from another one of the same version; `undefined`
   * if that is unknown.
   */
  readonly content?: string | undefined;
}

export interface StatementPlan
  extends Omit<Statement, 'result' | 'bind'>, ReadStatement {
  /**
   * Whether the result may be one page of several; otherwise all of it is
   * fetched.
   */
  readonly isPaged?: boolean;
  /** The objects that the answer will show, where the plan knows them. */
  readonly ids: readonly string[];
  /**
   * What to do where the cluster does not know the table; nothing to say unless
   * given.
   */
  readonly hint?: string | undefined;
  /** Of an update: the time of writing, in microseconds since the epoch. */
  readonly timestamp?: number | undefined;
  /**
   * Of an update: whether it is one plain write of one partition, of which
   * nothing is done where it is refused.
   */
  readonly isSingleMutation?: boolean;
  /** @throws CorrectableError where the answer does not fit */
  readonly interpretPage: (page: Page) => ReadResult;
}

/**
 * Makes a plan of an operation's arguments. @throws CorrectableError
 * `INVALID_ARGUMENT` or `INVALID_VALUE`
 */
export type Planner = (operation: Operation) => StatementPlan;

export function createStatementPlanner(statement: Statement): Planner {
  const { name, access, cql, isIdempotent, result } = statement;
  const { versionColumn } = result;
  const isUpdate = access === 'write';
  const isSingleMutation = isUpdate && isSinglePartitionChange(cql);
  return ({ args }) => ({
    name,
    access,
    cql,
    isIdempotent,
    ...statement.bind(args),
    isPaged: result.kind === 'page',
    ids: [],
    timestamp: isUpdate ? writeClock.next() : undefined,
    isSingleMutation,
    interpretPage: (page) => ({
      value: result.buildResult(page, name),
      version:
        versionColumn === undefined
          ? undefined
          : readVersion(page, versionColumn, name),
      objects: undefined,
    }),
  });
}

function readVersion(
  { rows: [row] }: Page,
  column: string,
  name: string,
): number | undefined {
  if (row === undefined) return undefined;
  const version = row[column];
  if (typeof version === 'bigint') return Number(version);
  if (version === null) return undefined;
  const message = `${name}: ${column} is no version: select WRITETIME(…) AS ${column}`;
  throw new CorrectableError('INVALID_VALUE', message, { field: column });
}
