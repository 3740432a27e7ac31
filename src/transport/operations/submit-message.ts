/** The row that submits an operation. */
import type {
  BindingSession,
  InvocationContext,
} from '../../correctable/binding.ts';
import { createInvalidArgumentError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { MAX_NAME_LENGTH } from '../../protocol/messages/field-schemas.ts';
import type { Codec, EncodedMessage } from '../../protocol/codec/codec.ts';
import { submitFields } from '../../protocol/messages/submit-fields.ts';
import type { SubmitMessage } from '../../protocol/messages/submit.ts';
import type { InFlightOperation } from './in-flight-operation.ts';

/** Tokens in one submission at most: one a site. */
const MAX_SESSION_TOKENS = 64;

/**
 * Keeps the newest token of each server, which its text before the first dot
 * names; first ones stay until then.
 */
export class WireSession implements BindingSession {
  /**
   * The id of the client that opened it: with another principal it takes
   * another, and the session has ended.
   */
  readonly client: string | undefined;
  tokens: readonly string[];

  constructor(tokens: readonly string[] = [], client?: string) {
    this.client = client;
    this.tokens = [...new Set(tokens)].slice(-MAX_SESSION_TOKENS);
  }

  /**
   * Takes the token that came with a view: it contains all that was sent with
   * the submission.
   */
  addToken(token: string): void {
    const others = this.tokens.filter(
      (other) => getServer(other) !== getServer(token),
    );
    this.tokens = [...others, token].slice(-MAX_SESSION_TOKENS);
  }
}

const getServer = (token: string): string =>
  token.slice(0, Math.max(0, token.indexOf('.')));

export interface SubmitMessageParts {
  readonly id: number;
  readonly operation: Operation;
  readonly levels: number;
  readonly context: InvocationContext;
  readonly wallNowMs: number;
}

/**
 * Throws for what a server would take for a malformed row, and after a few of
 * those for a broken client.
 */
export function checkSendable(
  { name, access, key }: Operation,
  idempotencyKey = '',
): void {
  if (
    typeof name !== 'string' ||
    name === '' ||
    name.length > MAX_NAME_LENGTH
  ) {
    throw createInvalidArgumentError(
      'name',
      `give an operation a name of 1 to ${MAX_NAME_LENGTH} characters`,
    );
  }
  if (access !== 'read' && access !== 'write')
    throw createInvalidArgumentError('access', "must be 'read' or 'write'");
  if (key !== undefined && typeof key !== 'string')
    throw createInvalidArgumentError('key', 'must be a text');
  // The gateway in front of this binding may have put a long principal in front
  // of a short key.
  if (idempotencyKey.length > MAX_NAME_LENGTH)
    throw createInvalidArgumentError('idempotencyKey', 'give a shorter one');
}

/** Builds the row, leaving out what is not there at its end. */
export function createSubmitMessage({
  id,
  operation,
  levels,
  context,
  wallNowMs,
}: SubmitMessageParts): SubmitMessage {
  const { name, access, args, key } = operation;
  const { deadlineAt, trace, session, idempotencyKey } = context;
  const leftMs =
    deadlineAt === undefined
      ? Infinity
      : Math.max(0, Math.round(deadlineAt - wallNowMs));
  // So long a limit is none.
  const timeoutMs = Number.isSafeInteger(leftMs) ? leftMs : null;
  const tokens = session instanceof WireSession ? session.tokens : null;
  if (idempotencyKey !== undefined) {
    const start = [id, 'submit', name, access, levels, args] as const;
    return [
      ...start,
      key ?? null,
      timeoutMs,
      trace ?? null,
      tokens,
      null,
      null,
      idempotencyKey,
    ];
  }
  if (tokens !== null)
    return [
      id,
      'submit',
      name,
      access,
      levels,
      args,
      key ?? null,
      timeoutMs,
      trace ?? null,
      tokens,
    ];
  if (trace !== undefined)
    return [
      id,
      'submit',
      name,
      access,
      levels,
      args,
      key ?? null,
      timeoutMs,
      trace,
    ];
  if (timeoutMs !== null)
    return [id, 'submit', name, access, levels, args, key ?? null, timeoutMs];
  if (key !== undefined) return [id, 'submit', name, access, levels, args, key];
  return [id, 'submit', name, access, levels, args];
}

const MOVE_INDEX = submitFields.indexOf('move');

/**
 * Where a row is sent: the name of the site, and of what its server remembers.
 */
export interface Destination {
  readonly site: string | undefined;
  readonly memoryId: string | undefined;
}

/**
 * The row for this destination, with the moves of an update and whether another
 * memory may know it.
 */
export function createMessageFor(
  destination: Destination,
  operation: InFlightOperation,
  codec: Codec,
): EncodedMessage {
  if (operation.access !== 'write') return operation.message;
  const move =
    destination.site === undefined
      ? undefined
      : recordMove(destination.site, operation);
  const again = operation.isUnknownTo(destination.memoryId);
  if (move === undefined && !again) return operation.message;
  // Read back, since the arguments may have changed in the hands of the
  // application meanwhile.
  const [row] = codec.decode(codec.frame([operation.message])) as [unknown[]];
  while (row.length < MOVE_INDEX) row.push(null);
  row[MOVE_INDEX] = move ?? null;
  if (again) row[MOVE_INDEX + 1] = true;
  return codec.encodeMessage(row, submitFields);
}

function recordMove(
  site: string,
  operation: InFlightOperation,
): readonly [home: string, hop: number] | undefined {
  operation.home ??= site;
  if (operation.site !== undefined && operation.site !== site) operation.hop++;
  operation.site = site;
  return operation.hop === 0 ? undefined : [operation.home, operation.hop];
}
