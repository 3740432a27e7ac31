/**
 * Checks every inbound message. The most frequent ones are recognized without their schemas: these
 * cost a page more time than everything else that it does with a message.
 */
import * as z from 'zod/v4-mini';
import { UndecodableMessage } from '../codec/codec.ts';
import { confirm, type ConfirmMessage } from './confirm.ts';
import { KIND_AT, NUMBER_AT, type MessageKind } from './define-message.ts';
import { MAX_NAME_LENGTH } from './field-schemas.ts';
import { ALL_LEVELS, MAX_LEVEL_INDEX } from './level-bits.ts';
import { submit, type SubmitMessage } from './submit.ts';
import { view, type ViewMessage } from './view.ts';

export interface MessageProblem {
  /** The operation that the message seems to belong to. 0 if that is unknown. */
  readonly id: number;
  /** Path of the bad field, for example `args.queue`. */
  readonly field: string;
  readonly reason: string;
}

/** How to check faster than by the schemas themselves. */
export interface MessageCheckOptions {
  /**
   * Converts a schema to a faster one that accepts the same, like `compile` of zod if code
   * generation is allowed.
   */
  readonly compile?: (schema: z.ZodMiniType) => z.ZodMiniType;
  /** Recognizes messages that need no schema. It accepts nothing that the schemas reject. */
  readonly isSimple?: (message: unknown) => boolean;
}

interface MessageChecker {
  readonly fields: readonly string[];
  readonly schema: z.ZodMiniType;
}

/**
 * Creates the check for the messages of one direction. The check returns the problem of a message,
 * or `undefined` for a well-formed one.
 *
 * @example
 * const check = createMessageCheck(serverMessageKinds);
 * const problem = check([7, 'view', 0, 0, 'value']);
 * if (problem !== undefined) console.warn(problem.field, problem.reason);
 */
export function createMessageCheck(
  kinds: readonly MessageKind<unknown>[],
  { compile = (schema) => schema, isSimple = () => false }: MessageCheckOptions = {},
): (message: unknown) => MessageProblem | undefined {
  const checkers = new Map<unknown, MessageChecker>();
  for (const item of kinds) checkers.set(item.kind, { ...item, schema: compile(item.schema) });
  // The function has a name for profiles: `npm run bench -- wire` reads the share of validation
  // from it.
  return function checkMessage(message) {
    if (isSimple(message)) return undefined;
    if (message instanceof UndecodableMessage) return describeUndecodable(message, checkers);
    const checker = Array.isArray(message) ? checkers.get(message[KIND_AT]) : undefined;
    if (checker === undefined) return describeUnknownKind(message, checkers);
    const result = z.safeParse(checker.schema, message);
    return result.success
      ? undefined
      : describeProblem(message as unknown[], checker, result.error.issues[0]);
  };
}

/**
 * Returns the number of the operation that a possibly malformed message belongs to. 0 if it has
 * none.
 */
export function getOperationNumber(message: unknown): number {
  const id: unknown = Array.isArray(message) ? message[NUMBER_AT] : undefined;
  return Number.isSafeInteger(id) && (id as number) > 0 ? (id as number) : 0;
}

function describeUnknownKind(
  message: unknown,
  checkers: ReadonlyMap<unknown, MessageChecker>,
): MessageProblem {
  if (!Array.isArray(message)) return { id: 0, field: '', reason: 'a row must be an array' };
  const known = [...checkers.keys()].join(', ');
  return {
    id: getOperationNumber(message),
    field: 'kind',
    reason: `the second element must be one of ${known}`,
  };
}

function describeUndecodable(
  { message, path, reason }: UndecodableMessage,
  checkers: ReadonlyMap<unknown, MessageChecker>,
): MessageProblem {
  const checker = Array.isArray(message) ? checkers.get(message[KIND_AT]) : undefined;
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
  message: readonly unknown[],
  { fields }: MessageChecker,
  issue: Issue | undefined,
): MessageProblem {
  const id = getOperationNumber(message);
  const field = formatFieldPath(issue?.path ?? [], fields);
  if (field !== '') return { id, field, reason: issue?.message ?? 'invalid' };
  return {
    id,
    field,
    reason: `a ${String(message[KIND_AT])} row has up to ${fields.length} elements, got ${message.length}`,
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

/** Both kinds begin with the same elements. */
const { id: ID, level: LEVEL, seq: SEQ } = view.at;

/**
 * Returns whether a message is a well-formed `view`, `final` or `confirm` without `meta`. Other
 * messages may be well-formed too.
 */
export function isSimpleView(message: unknown): message is ViewMessage | ConfirmMessage {
  if (!Array.isArray(message)) return false;
  const kind: unknown = message[KIND_AT];
  const isView = kind === 'view' || kind === 'final';
  if (!isView && kind !== 'confirm') return false;
  // The length with and without a version.
  const length = isView ? view.at.version : confirm.at.version;
  return (message.length === length || message.length === length + 1) && hasSimpleHead(message);
}

function hasSimpleHead(message: readonly unknown[]): boolean {
  const id: unknown = message[ID];
  const level: unknown = message[LEVEL];
  return (
    isCount(id) && id > 0 && isCount(level) && level <= MAX_LEVEL_INDEX && isCount(message[SEQ])
  );
}

/** Returns whether a message is a simple `submit`. Other messages may be well-formed too. */
export function isSimpleSubmit(message: unknown): message is SubmitMessage {
  const { at } = submit;
  if (
    !Array.isArray(message) ||
    message[KIND_AT] !== 'submit' ||
    message.length <= at.args ||
    message.length > at.session
  )
    return false;
  const id: unknown = message[at.id];
  const access: unknown = message[at.access];
  const levels: unknown = message[at.levels];
  return (
    isCount(id) &&
    id > 0 &&
    isShortText(message[at.name]) &&
    (access === 'write' || access === 'read') &&
    isCount(levels) &&
    levels > 0 &&
    levels <= ALL_LEVELS &&
    (message.length <= at.key ||
      isAbsent(message[at.key]) ||
      typeof message[at.key] === 'string') &&
    (message.length <= at.timeoutMs ||
      isAbsent(message[at.timeoutMs]) ||
      isCount(message[at.timeoutMs]))
  );
}

function isShortText(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
