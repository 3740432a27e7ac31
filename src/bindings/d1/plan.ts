/** How to execute one operation. Built-in operations and statements share this. */
import type { Access, Operation } from '../../correctable/operation.ts';
import type { Page } from '../shared/statements/page.ts';
import type { CheckedStatement } from '../shared/statements/statement-catalog.ts';
import { interpretRows, type StatementResult } from '../shared/statements/statement-operations.ts';
import { splitStatements } from './sql-text.ts';
import { failIfUnchanged } from './statements.ts';

export interface SqlStatement {
  readonly text: string;
  /** The values of `?1`, `?2`. */
  readonly values: readonly unknown[];
}

export interface D1Plan {
  readonly name: string;
  readonly access: Access;
  /** One, or those of one transaction. */
  readonly statements: readonly SqlStatement[];
  /** Which of the statements has the result, counted from 0. */
  readonly resultAt: number;
  /** Whether a write may be resent if its outcome is unknown. */
  readonly isIdempotent: boolean;
  /** What to do if there is no such table. Default: no advice */
  readonly hint?: string | undefined;
  /** @throws CorrectableError if the rows do not fit */
  readonly interpret: (page: Page) => StatementResult;
}

/** One operation of the binding. */
export interface D1Operation {
  readonly access: Access;
  /** @throws CorrectableError `INVALID_ARGUMENT` or `INVALID_VALUE` */
  readonly plan: (operation: Operation) => D1Plan;
}

export function createStatementOperation(statement: CheckedStatement): D1Operation {
  const { name, access, text, isIdempotent } = statement;
  const parts = splitStatements(text);
  const resultAt = parts.findLastIndex((part) => part.text !== failIfUnchanged);
  return {
    access,
    plan({ args }) {
      const { params } = statement.bind(args);
      return {
        name,
        access,
        isIdempotent,
        resultAt,
        statements: parts.map((part) => ({
          text: part.text,
          values: params.slice(0, part.valueCount),
        })),
        interpret: (page) => interpretRows(statement, page),
      };
    },
  };
}
