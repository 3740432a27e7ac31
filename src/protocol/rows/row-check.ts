/** The check that every inbound row passes. */
import * as z from 'zod/v4-mini';
import { UndecodableRow } from '../codec/codec.ts';
import { KIND, NUMBER, type MessageKind } from './define-row.ts';

/** What is wrong with a row. */
export interface RowProblem {
  /** The operation that the row seems to be about; 0 if that cannot be told. */
  readonly id: number;
  /** Path of the bad field, for example `args.queue`. */
  readonly field: string;
  readonly reason: string;
}

/** How to check faster than by the schemas as they are. */
export interface RowCheckOptions {
  /** Turns a schema into a faster one that accepts the same: `compile` of zod where code generation is allowed. */
  readonly compile?: (schema: z.ZodMiniType) => z.ZodMiniType;
  /** Recognises rows that need no schema: accepts nothing that the schemas refuse. */
  readonly isPlain?: (row: unknown) => boolean;
}

type Checker = Pick<MessageKind<unknown>, 'fields' | 'schema'>;

/**
 * Makes the check for the rows of one direction: it tells what is wrong with a row, `undefined` for one that is
 * well-formed.
 *
 * @example
 * const check = createRowCheck(serverKinds);
 * const problem = check([7, 'view', 0, 0, 'value']);
 * if (problem !== undefined) console.warn(problem.field, problem.reason);
 */
export function createRowCheck(
  kinds: readonly MessageKind<unknown>[],
  { compile = (schema) => schema, isPlain = () => false }: RowCheckOptions = {},
): (row: unknown) => RowProblem | undefined {
  const checkers = new Map<unknown, Checker>();
  for (const each of kinds) checkers.set(each.kind, { ...each, schema: compile(each.schema) });
  // Named for profiles: `npm run bench -- wire` reads the share of validation from there.
  return function checkRow(row) {
    if (isPlain(row)) return undefined;
    if (row instanceof UndecodableRow) return undecodable(row, checkers);
    const checker = Array.isArray(row) ? checkers.get(row[KIND]) : undefined;
    if (checker === undefined) return unknownKind(row, checkers);
    const result = z.safeParse(checker.schema, row);
    return result.success ? undefined : describe(row as unknown[], checker, result.error.issues[0]);
  };
}

/** The number of the operation that a possibly malformed row is about; 0 if it has none. */
export function operationNumberOf(row: unknown): number {
  const id: unknown = Array.isArray(row) ? row[NUMBER] : undefined;
  return Number.isSafeInteger(id) && (id as number) > 0 ? (id as number) : 0;
}

function unknownKind(row: unknown, checkers: ReadonlyMap<unknown, Checker>): RowProblem {
  if (!Array.isArray(row)) return { id: 0, field: '', reason: 'a row must be an array' };
  const known = [...checkers.keys()].join(', ');
  return { id: operationNumberOf(row), field: 'kind', reason: `the second element must be one of ${known}` };
}

function undecodable({ row, path, reason }: UndecodableRow, checkers: ReadonlyMap<unknown, Checker>): RowProblem {
  const checker = Array.isArray(row) ? checkers.get(row[KIND]) : undefined;
  return { id: operationNumberOf(row), field: fieldPath(path, checker?.fields ?? []), reason };
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

function describe(row: readonly unknown[], { fields }: Checker, issue: Issue | undefined): RowProblem {
  const id = operationNumberOf(row);
  const field = fieldPath(issue?.path ?? [], fields);
  if (field !== '') return { id, field, reason: issue?.message ?? 'invalid' };
  return { id, field, reason: `a ${String(row[KIND])} row has up to ${fields.length} elements, got ${row.length}` };
}

function fieldPath([first, ...rest]: readonly PropertyKey[], fields: readonly string[]): string {
  if (first === undefined) return '';
  const name = typeof first === 'number' ? (fields[first] ?? first) : first;
  return [name, ...rest].map(String).join('.');
}
