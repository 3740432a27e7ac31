/** The row that submits an operation. */
import type { BindingSession, InvocationContext } from '../../correctable/binding.ts';
import { invalidArgument } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { NAME_LENGTH_MAX } from '../../protocol/rows/elements.ts';
import type { Codec, EncodedRow } from '../../protocol/codec/codec.ts';
import { submitFields } from '../../protocol/rows/submit-fields.ts';
import type { SubmitRow } from '../../protocol/rows/submit.ts';
import type { InFlightOperation } from './in-flight-operation.ts';

/** Tokens in one submission at most: one a site. */
const TOKENS_MAX = 64;

/** Keeps the newest token of each server, by what stands before its first dot; what follows is for servers to read. */
export class WireSession implements BindingSession {
  /** The id of the client that opened it: with another principal it takes another, and the session has ended. */
  readonly client: string | undefined;
  readonly #tokens = new Map<string, string>();

  constructor(tokens: readonly string[] = [], client?: string) {
    this.client = client;
    for (const token of tokens) this.learn(token);
  }

  get tokens(): readonly string[] {
    return [...this.#tokens.values()];
  }

  /** Takes the token that came with a view: it contains all that was sent with the submission. */
  learn(token: string): void {
    this.#tokens.set(token.slice(0, Math.max(0, token.indexOf('.'))), token);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > TOKENS_MAX && oldest !== undefined) this.#tokens.delete(oldest);
  }
}

/** What goes into the row. */
export interface SubmitParts {
  readonly id: number;
  readonly operation: Operation;
  /** The requested levels, as bits. */
  readonly levels: number;
  readonly context: InvocationContext;
  readonly wallNowMs: number;
}

/** Throws for what a server would take for a malformed row, and after a few of those for a broken client. */
export function requireSendable({ name, effect, key }: Operation, idempotencyKey = ''): void {
  if (typeof name !== 'string' || name === '' || name.length > NAME_LENGTH_MAX) {
    throw invalidArgument('name', `give an operation a name of 1 to ${NAME_LENGTH_MAX} characters`);
  }
  if (effect !== 'read' && effect !== 'update') throw invalidArgument('effect', "must be 'read' or 'update'");
  if (key !== undefined && typeof key !== 'string') throw invalidArgument('key', 'must be a text');
  // The gateway in front of this binding may have put a long principal in front of a short key.
  if (idempotencyKey.length > NAME_LENGTH_MAX) throw invalidArgument('idempotencyKey', 'give a shorter one');
}

/** Builds the row, leaving out what is not there at its end. */
export function submitRow({ id, operation, levels, context, wallNowMs }: SubmitParts): SubmitRow {
  const { name, effect, args, key } = operation;
  const { deadlineAt, trace, session, idempotencyKey } = context;
  const leftMs = deadlineAt === undefined ? Infinity : Math.max(0, Math.round(deadlineAt - wallNowMs));
  // So long a limit is none.
  const timeoutMs = Number.isSafeInteger(leftMs) ? leftMs : null;
  const tokens = session instanceof WireSession ? session.tokens : null;
  if (idempotencyKey !== undefined) {
    const start = [id, 'submit', name, effect, levels, args] as const;
    return [...start, key ?? null, timeoutMs, trace ?? null, tokens, null, null, idempotencyKey];
  }
  if (tokens !== null) return [id, 'submit', name, effect, levels, args, key ?? null, timeoutMs, trace ?? null, tokens];
  if (trace !== undefined) return [id, 'submit', name, effect, levels, args, key ?? null, timeoutMs, trace];
  if (timeoutMs !== null) return [id, 'submit', name, effect, levels, args, key ?? null, timeoutMs];
  if (key !== undefined) return [id, 'submit', name, effect, levels, args, key];
  return [id, 'submit', name, effect, levels, args];
}

const MOVE = submitFields.indexOf('move');

/** Where a row is sent: the name of the site, and of what its server remembers. */
export interface Destination {
  readonly site: string | undefined;
  readonly memory: string | undefined;
}

/**
 * The row for this destination: an update that was sent to another site before says where it began, and how often it moved;
 * one that was sent to a server that remembered something else says that it is sent again.
 */
export function rowAt(destination: Destination, operation: InFlightOperation, codec: Codec): EncodedRow {
  if (operation.effect !== 'update') return operation.row;
  const move = destination.site === undefined ? undefined : moveTo(destination.site, operation);
  const again = operation.isUnknownTo(destination.memory);
  if (move === undefined && !again) return operation.row;
  // Read back, since the arguments may have changed in the hands of the application meanwhile.
  const [row] = codec.decode(codec.frame([operation.row])) as [unknown[]];
  while (row.length < MOVE) row.push(null);
  row[MOVE] = move ?? null;
  if (again) row[MOVE + 1] = true;
  return codec.encodeRow(row, submitFields);
}

function moveTo(site: string, operation: InFlightOperation): readonly [home: string, hop: number] | undefined {
  operation.home ??= site;
  if (operation.site !== undefined && operation.site !== site) operation.hop++;
  operation.site = site;
  return operation.hop === 0 ? undefined : [operation.home, operation.hop];
}
