/** How to execute one operation. Built-in operations and statements share this. */
import type { Access, Operation } from '../../correctable/operation.ts';
import type { ReplicaStore } from '../replicas/index.ts';
import type { Page } from '../shared/statements/page.ts';
import type { CheckedStatement } from '../shared/statements/statement-catalog.ts';
import { interpretRows, type StatementResult } from '../shared/statements/statement-operations.ts';
import type { PostgresPosition } from './position.ts';
import type { SqlStatement } from './connections/server.ts';
import { isOneTransaction } from './statements/sql-text.ts';

export interface SqlPlan {
  readonly name: string;
  readonly access: Access;
  readonly statement: SqlStatement;
  /** Whether a write may be resent if its outcome is unknown. */
  readonly isIdempotent: boolean;
  /** Whether the statement may commit a part of itself before it fails. Default: never */
  readonly mayCommit?: boolean | undefined;
  /** What to do if there is no such table. Default: no advice */
  readonly hint?: string | undefined;
  /** Whether the write has changed nothing, and must be sent again. Default: never */
  readonly isHeldBack?: ((page: Page) => boolean) | undefined;
  /** @throws CorrectableError if the rows do not fit */
  readonly interpret: (page: Page) => StatementResult;
}

/** The advice for tables of the binding. */
export const MIGRATIONS_HINT = 'Run the statements of migrations() at the primary.';

/** How to read the likely result of a write at a replica. */
export interface PreviewPlan extends Pick<SqlPlan, 'statement'> {
  /** What to read first. Its state is the same or older. Default: nothing */
  readonly before?: SqlStatement | undefined;
  readonly interpret: (page: Page, before: Page) => StatementResult;
  /** Called with the position of the replica. */
  readonly onPosition?: (position: PostgresPosition | undefined) => void;
}

/** One operation of the binding. */
export interface SqlOperation {
  readonly access: Access;
  /** @throws CorrectableError `INVALID_ARGUMENT` or `INVALID_VALUE` */
  readonly plan: (operation: Operation) => SqlPlan;
  /** Waits for the turn of a write, and returns what to call at its end. */
  readonly enter?: NonNullable<ReplicaStore['enter']> | undefined;
  /** Returns what to read for the preliminary view of a write. */
  readonly preview?: ((operation: Operation) => PreviewPlan) | undefined;
  /** Called when a write begins. Default: the write is sent once, by `plan` */
  readonly beginWrite?: ((operation: Operation) => OngoingWrite) | undefined;
}

/** A write that others of this process depend on. */
export interface OngoingWrite {
  /** The plan of its next attempt. */
  readonly plan: () => SqlPlan;
  /** Resolves when a write that was held back may be sent again. */
  readonly waitForTurn: () => Promise<void>;
  /** Called at its end, with its result if there is one. */
  readonly end: (written?: WrittenResult) => void;
}

export interface WrittenResult {
  readonly page: Page;
  readonly position: PostgresPosition | undefined;
}

export function createStatementOperation(statement: CheckedStatement): SqlOperation {
  const { name, access, text, isIdempotent } = statement;
  const mayCommit = access === 'write' && !isOneTransaction(text);
  return {
    access,
    plan: ({ args }) => ({
      name,
      access,
      isIdempotent,
      mayCommit,
      statement: {
        text,
        values: statement.bind(args).params,
        columns: 'application',
      },
      interpret: (page) => interpretRows(statement, page),
    }),
  };
}
