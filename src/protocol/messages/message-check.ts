/** The check that every inbound row passes. */
import * as z from 'zod/v4-mini';
import { UndecodableMessage } from '../codec/codec.ts';
import { KIND_AT, NUMBER_AT, type MessageKind } from './define-message.ts';

export interface MessageProblem {
  /**
   * The operation that the row seems to be about; 0 if that cannot be known.
   */
  readonly id: number;
  /** Path of the bad field, for example `args.queue`. */
  readonly field: string;
  readonly reason: string;
}

/** How to check faster than by the schemas as they are. */
export interface MessageCheckOptions {
  /**
   * Turns a schema into a faster one that accepts the same: `compile` of zod
   * where code generation is allowed.
   */
  readonly compile?: (schema: z.ZodMiniType) => z.ZodMiniType;
  /**
   * Recognises rows that need no schema: accepts nothing that the schemas
   * refuse.
   */
  readonly isSimple?: (row: unknown) => boolean;
}

type MessageChecker = Pick<MessageKind<unknown>, 'fields' | 'schema'>;

/**
 * Makes the check for the rows of one direction. It returns what is wrong with
 * a row, or `undefined` for a well-formed one.
 *
 * @example
 * const check = createMessageCheck(serverMessageKinds);
 * const problem = check([7, 'view', 0, 0, 'value']);
 * if (problem !== undefined) console.warn(problem.field, problem.reason);
 */
export function createMessageCheck(
  kinds: readonly MessageKind<unknown>[],
  {
    compile = (schema) => schema,
    isSimple = () => false,
  }: MessageCheckOptions = {},
): (row: unknown) => MessageProblem | undefined {
  const checkers = new Map<unknown, MessageChecker>();
  for (const item of kinds)
    checkers.set(item.kind, { ...item, schema: compile(item.schema) });
  // Named for profiles: `npm run bench -- wire` reads the share of validation
  // from there.
  return function checkRow(row) {
    if (isSimple(row)) return undefined;
    if (row instanceof UndecodableMessage)
      return describeUndecodable(row, checkers);
    const checker = Array.isArray(row) ? checkers.get(row[KIND_AT]) : undefined;
    if (checker === undefined) return describeUnknownKind(row, checkers);
    const result = z.safeParse(checker.schema, row);
    return result.success
      ? undefined
      : describeProblem(row as unknown[], checker, result.error.issues[0]);
  };
}

/**
 * The number of the operation that a possibly malformed row is about; 0 if it
 * has none.
 */
export function getOperationNumber(row: unknown): number {
  const id: unknown = Array.isArray(row) ? row[NUMBER_AT] : undefined;
  return Number.isSafeInteger(id) && (id as number) > 0 ? (id as number) : 0;
}

function describeUnknownKind(
  row: unknown,
  checkers: ReadonlyMap<unknown, MessageChecker>,
): MessageProblem {
  if (!Array.isArray(row))
    return { id: 0, field: '', reason: 'a row must be an array' };
  const known = [...checkers.keys()].join(', ');
  return {
    id: getOperationNumber(row),
    field: 'kind',
    reason: `the second element must be one of ${known}`,
  };
}

function describeUndecodable(
  { message, path, reason }: UndecodableMessage,
  checkers: ReadonlyMap<unknown, MessageChecker>,
): MessageProblem {
  const checker = Array.isArray(message)
    ? checkers.get(message[KIND_AT])
    : undefined;
  return {
    id: getOperationNumber(message),
    field: formatFieldPath(path, checker?.fields ?? []),
    reason,
  };
}

type Issue = {
  readonly path: readonly PropertyKey[];
  readonly message: string;
};

function describeProblem(
  row: readonly unknown[],
  { fields }: MessageChecker,
  issue: Issue | undefined,
): MessageProblem {
  const id = getOperationNumber(row);
  const field = formatFieldPath(issue?.path ?? [], fields);
  if (field !== '') return { id, field, reason: issue?.message ?? 'invalid' };
  return {
    id,
    field,
    reason: `a ${String(row[KIND_AT])} row has up to ${fields.length} elements, got ${row.length}`,
  };
}

function formatFieldPath(
  [first, ...rest]: readonly PropertyKey[],
  fields: readonly string[],
): string {
  if (first === undefined) return '';
  const name = typeof first === 'number' ? (fields[first] ?? first) : first;
  return [name, ...rest].map(String).join('.');
}
