/**
 * What bindings with statements share of their operations: their names, their plans, and the
 * results of their rows.
 */
import type { ViewDetails } from '../../../correctable/binding.ts';
import { CorrectableError, createInvalidArgumentError } from '../../../correctable/errors.ts';
import type { Access, Operation } from '../../../correctable/operation.ts';
import type { Page } from './page.ts';
import type { CheckedStatement } from './statement-catalog.ts';

/** The result of a statement. */
export interface StatementResult extends Pick<ViewDetails, 'version' | 'meta'> {
  readonly value: unknown;
}

interface Plan {
  readonly name: string;
  readonly interpret: (page: Page) => StatementResult;
}

interface PlannedOperation<P> {
  readonly access: Access;
  readonly plan: (operation: Operation) => P;
}

/**
 * Returns the operations of a binding: the built-in ones, and the application's statements.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for a name that is used twice
 */
export function addStatements<O, S extends { readonly name: string }>(
  builtIn: Iterable<readonly [name: string, operation: O]>,
  statements: readonly S[],
  createOperation: (statement: S) => O,
): ReadonlyMap<string, O> {
  const operations = new Map(builtIn);
  const builtInNames = new Set(operations.keys());
  for (const statement of statements) {
    const { name } = statement;
    if (operations.has(name)) {
      const reason = builtInNames.has(name)
        ? 'the binding has an operation of this name'
        : 'two statements have this name';
      throw createInvalidArgumentError(`statements.${name}`, `${reason}: choose another`);
    }
    operations.set(name, createOperation(statement));
  }
  return operations;
}

/**
 * Returns the plan of a supported operation.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if its access or its arguments do not fit
 */
export function createPlan<P>(
  operations: ReadonlyMap<string, PlannedOperation<P>>,
  operation: Operation,
  access: Access,
): P {
  const found = operations.get(operation.name);
  if (found?.access === access) return found.plan(operation);
  throw createInvalidArgumentError('access', `${operation.name} is a ${found?.access}`);
}

/** Returns the value of a statement's rows, and its version if it selects one. */
export function interpretRows(
  { name, result }: Pick<CheckedStatement, 'name' | 'result'>,
  page: Page,
): StatementResult {
  const { versionColumn } = result;
  return {
    value: result.buildResult(page, name),
    ...(versionColumn !== undefined && {
      version: readVersion(page, versionColumn, name),
    }),
  };
}

/**
 * Returns the version of a result, in the column that `version` of `oneRow` names.
 *
 * @throws CorrectableError `INVALID_VALUE` for what is no version
 */
function readVersion({ rows: [row] }: Page, column: string, name: string): unknown {
  if (row === undefined) return undefined;
  const version = row[column] ?? undefined;
  const isVersion =
    version === undefined ||
    typeof version === 'number' ||
    typeof version === 'bigint' ||
    version instanceof Date;
  if (isVersion) return version;
  const message = `${name}: ${column} is no version: select an integer or a timestamp AS ${column}`;
  throw new CorrectableError('INVALID_VALUE', message, { field: column });
}

/**
 * Returns the result of a write that was made.
 *
 * @throws CorrectableError `UNKNOWN` if its rows do not fit
 */
export function interpretWritten({ name, interpret }: Plan, page: Page): StatementResult {
  try {
    return interpret(page);
  } catch (cause) {
    const message = `${name}: the write was made, but its result does not fit: ${String(cause)}`;
    throw new CorrectableError('UNKNOWN', message, { cause });
  }
}
