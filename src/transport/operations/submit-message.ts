/** Builds the message that submits an operation. */
import type { BindingSession, InvocationContext } from '../../correctable/binding.ts';
import { createInvalidArgumentError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { MAX_NAME_LENGTH } from '../../protocol/messages/field-schemas.ts';
import type { Codec, EncodedMessage } from '../../protocol/codec/codec.ts';
import { submitFields } from '../../protocol/messages/submit-fields.ts';
import type { SubmitMessage } from '../../protocol/messages/submit.ts';
import type { InFlightOperation } from './in-flight-operation.ts';

/** Maximum number of tokens in one submission: one for each site. */
const MAX_SESSION_TOKENS = 64;

/**
 * Keeps the newest token of each server. The text of a token before its first dot names the server.
 * The tokens with which the session was opened stay until newer ones replace them.
 */
export class WireSession implements BindingSession {
  /**
   * The id of the client that opened the session. With another principal the client gets another
   * id, and the session ends.
   */
  readonly client: string | undefined;
  tokens: readonly string[];

  constructor(tokens: readonly string[] = [], client?: string) {
    this.client = client;
    this.tokens = [...new Set(tokens)].slice(-MAX_SESSION_TOKENS);
  }

  /** Adds the token that came with a view. It replaces the earlier token of the same server. */
  addToken(token: string): void {
    const others = this.tokens.filter((other) => getServer(other) !== getServer(token));
    this.tokens = [...others, token].slice(-MAX_SESSION_TOKENS);
  }
}

const getServer = (token: string): string => token.slice(0, Math.max(0, token.indexOf('.')));

export interface SubmitMessageParts {
  readonly id: number;
  readonly operation: Operation;
  readonly levels: number;
  readonly context: InvocationContext;
  readonly wallNowMs: number;
}

/**
 * Throws for an operation that a server would take for a malformed message. The server closes the
 * connection of a client that sends several malformed messages.
 */
export function checkSendable({ name, access, key }: Operation, idempotencyKey = ''): void {
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_LENGTH) {
    throw createInvalidArgumentError(
      'name',
      `give an operation a name of 1 to ${MAX_NAME_LENGTH} characters`,
    );
  }
  if (access !== 'read' && access !== 'write')
    throw createInvalidArgumentError('access', "must be 'read' or 'write'");
  if (key !== undefined && typeof key !== 'string')
    throw createInvalidArgumentError('key', 'must be a text');
  // The key may be longer than the application's own: a gateway that hosts this binding prefixes it
  // with the principal.
  if (idempotencyKey.length > MAX_NAME_LENGTH)
    throw createInvalidArgumentError('idempotencyKey', 'give a shorter one');
}

/**
 * Builds the message. Elements that are absent at its end are left out. There is a literal for each
 * length, because to create the longest array and to cut its end takes three times as long.
 */
export function createSubmitMessage({
  id,
  operation,
  levels,
  context,
  wallNowMs,
}: SubmitMessageParts): SubmitMessage {
  const { name, access, args, key } = operation;
  const { deadlineAt, trace, session, idempotencyKey } = context;
  const remainingMs =
    deadlineAt === undefined ? Infinity : Math.max(0, Math.round(deadlineAt - wallNowMs));
  // A timeout that long is no limit.
  const timeoutMs = Number.isSafeInteger(remainingMs) ? remainingMs : null;
  const tokens = session instanceof WireSession ? session.tokens : null;
  if (idempotencyKey !== undefined) {
    const start = [id, 'submit', name, access, levels, args] as const;
    return [...start, key ?? null, timeoutMs, trace ?? null, tokens, null, null, idempotencyKey];
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
    return [id, 'submit', name, access, levels, args, key ?? null, timeoutMs, trace];
  if (timeoutMs !== null) return [id, 'submit', name, access, levels, args, key ?? null, timeoutMs];
  if (key !== undefined) return [id, 'submit', name, access, levels, args, key];
  return [id, 'submit', name, access, levels, args];
}

const MOVE_INDEX = submitFields.indexOf('move');

/** The destination of a message: the name of the site, and the `memoryId` of the server. */
export interface Destination {
  readonly site: string | undefined;
  readonly memoryId: string | undefined;
}

/**
 * Returns the message for this destination. For an update, the message also contains how it moved
 * between sites, and whether a server with another `memoryId` may know it.
 */
export function createMessageFor(
  destination: Destination,
  operation: InFlightOperation,
  codec: Codec,
): EncodedMessage {
  if (operation.access !== 'write') return operation.message;
  const move = destination.site === undefined ? undefined : recordMove(destination.site, operation);
  const again = operation.isUnknownTo(destination.memoryId);
  if (move === undefined && !again) return operation.message;
  // Decoded from the message, because the application may have changed the arguments meanwhile.
  const [message] = codec.decode(codec.frame([operation.message])) as [unknown[]];
  while (message.length < MOVE_INDEX) message.push(null);
  message[MOVE_INDEX] = move ?? null;
  if (again) message[MOVE_INDEX + 1] = true;
  return codec.encodeMessage(message, submitFields);
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
