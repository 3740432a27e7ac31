/**
 * How to execute one operation and read its reply. Built-in operations and statements share this.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import type { Page, ReadStatement } from './read-strategy.ts';
import { writeClock } from './session-guarantees/write-clock.ts';
import { isSinglePartitionChange } from './statements/cql-text.ts';
import type { Statement } from './statements/statements.ts';

export interface ReadResult {
  readonly value: unknown;
  /** When the value was written, in microseconds since the epoch, if the reply has it. */
  readonly version: number | undefined;
  /**
   * The objects that the result shows, each with its version if there is one. Sessions compare
   * these.
   */
  readonly objects: readonly ObjectVersion[] | undefined;
}

export interface ObjectVersion {
  readonly id: string;
  /** `undefined` if the object is missing. */
  readonly version: number | undefined;
  /** Distinguishes its value from another one of the same version. `undefined` if it is unknown. */
  readonly content?: string | undefined;
}

export interface StatementPlan extends Omit<Statement, 'result' | 'bind'>, ReadStatement {
  /** Whether the result may be one page of several. Otherwise all pages are fetched. */
  readonly isPaged?: boolean;
  /** The objects that the reply will show, if the plan knows them. */
  readonly ids: readonly string[];
  /** What to do if the cluster does not know the table. Default: no advice */
  readonly hint?: string | undefined;
  /** The write time of an update, in microseconds since the epoch. */
  readonly timestamp?: number | undefined;
  /**
   * Whether an update is one plain write of one partition, so that a refusal proves that nothing
   * was done.
   */
  readonly isSingleMutation?: boolean;
  /** @throws CorrectableError if the reply does not fit */
  readonly interpretPage: (page: Page) => ReadResult;
}

/**
 * Creates a plan from an operation's arguments. @throws CorrectableError `INVALID_ARGUMENT` or
 * `INVALID_VALUE`
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
      version: versionColumn === undefined ? undefined : readVersion(page, versionColumn, name),
      objects: undefined,
    }),
  });
}

function readVersion({ rows: [row] }: Page, column: string, name: string): number | undefined {
  if (row === undefined) return undefined;
  const version = row[column];
  if (typeof version === 'bigint') return Number(version);
  if (version === null) return undefined;
  const message = `${name}: ${column} is no version: select WRITETIME(…) AS ${column}`;
  throw new CorrectableError('INVALID_VALUE', message, { field: column });
}
