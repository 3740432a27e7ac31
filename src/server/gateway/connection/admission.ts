/** Whether a submission may be executed: what it asks for, how much is under way, and what the application says. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/given.ts';
import type { Access, Operation } from '../../../correctable/operation.ts';
import { CheckedOperation } from '../../../protocol/contract/checked-operation.ts';
import { strongestOf } from '../../../protocol/rows/levels.ts';
import { submit, type SubmitRow } from '../../../protocol/rows/submit.ts';
import { ENTRY_BYTES, type ClientRecord } from '../clients/client-table.ts';
import { HookTimeout, absorb, askHook, isUndecided } from '../submission/hooks.ts';
import type { GatewayHost, Principal } from '../host/host.ts';
import { OVERLOADED_RETRY_MS, type GatewayLimits } from '../limits/limits.ts';
import type { Load, ReceivedFrame, Whose } from '../limits/load.ts';
import type { NumberedTable } from '../../../protocol/numbered-table.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import type { ClientExpiry } from './token-check.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import type { HostedOperation } from '../submission/hosted-operation.ts';
import type { Outlet, SubmissionOwner } from '../submission/submission-parts.ts';

export interface ConnectedClient {
  readonly record: ClientRecord;
  /** Changes when the client renews its token. */
  principal: Principal;
  readonly expiry: ClientExpiry;
  /** Of all connections of its principal; its own if everybody is the same one. */
  readonly rate: RateLimit;
  readonly owner: SubmissionOwner;
  readonly host: GatewayHost;
  readonly outlet: ClientOutlet;
  /** What the operations of this connection take up. */
  readonly load: Load;
  /** The operations that this connection waits for, by number. */
  readonly running: NumberedTable<HostedOperation>;
  /** Those of which it is not known yet whether they are allowed. */
  readonly admissions: AdmissionQueue;
}

/** The way out of the connection, and how much waits there. */
export interface ClientOutlet extends Outlet {
  readonly waitingBytes: number;
}

const { at } = submit;

/** How much a client may hand on with an operation: a W3C `traceparent` and `tracestate` take a tenth of it. */
const TRACE_BYTES_MAX = 4_096;

/** The operation that the row asks for, if there is nothing against it. Throws why it is refused. */
export function admit(row: SubmitRow, client: ConnectedClient, frame: ReceivedFrame): Operation {
  const { record, host, admissions } = client;
  const levels = row[at.levels];
  if (row[at.effect] === 'update') refuseRepetition(row, client);
  refuseLoad(frame, client);
  refuseRate(frame.servedAt, client);
  if (strongestOf(levels) >= host.levels.length) {
    throw new CorrectableError('UNKNOWN_LEVEL', `levels: only ${host.levels.join(', ')} exist`, { field: 'levels' });
  }
  if (row[at.effect] === 'update' && host.binding.executesOnce !== true) {
    // Those that wait to be allowed are kept as well, if they are.
    const fullBy = host.clients.fullBy(record, ENTRY_BYTES * (admissions.size + 1));
    if (fullBy !== undefined)
      throw full(host, fullBy, { what: 'replies kept', todo: 'acknowledge those that have come' });
  }
  checkTrace(row[at.trace], client);
  if (row[at.effect] === 'update' && typeof row[at.idempotencyKey] === 'string') requireKeys(host);
  return checked(row, host);
}

/**
 * What the application says: nothing where it allows the operation at once, a promise where it takes its time. Throws
 * why the operation is refused, and so does the promise. Only `true` allows it: a hook that forgot to answer does not.
 * One that cannot tell has not said no: the client may ask again.
 */
export function authorise(operation: Operation, client: ConnectedClient): Promise<void> | undefined {
  const { host, principal } = client;
  let given: unknown;
  try {
    given = host.authorise(principal, operation);
    if (isThenable(given)) return allowedInTime(given, operation, host);
  } catch (error) {
    throw failed(error, operation, host);
  }
  requireTrue(given, operation);
  return undefined;
}

async function allowedInTime(given: PromiseLike<unknown>, operation: Operation, host: GatewayHost): Promise<void> {
  let allowed: unknown;
  try {
    allowed = await askHook('authorise', host.bounds.hookTimeoutMs, () => given);
  } catch (error) {
    throw failed(error, operation, host);
  }
  requireTrue(allowed, operation);
}

function requireTrue(allowed: unknown, operation: Operation): void {
  if (allowed !== true) throw forbidden(operation);
}

function failed(error: unknown, operation: Operation, { logger }: GatewayHost): CorrectableError {
  const fields = { operation: operation.name, err: error };
  if (isUndecided(error)) {
    logger.warn(fields, 'authorise could not tell whether an operation is allowed');
    return error instanceof HookTimeout ? error : undecided(operation);
  }
  logger.error(fields, 'authorise failed: the operation is refused');
  return forbidden(operation);
}

/** In words of ours: those of the hook may name what it asks. */
function undecided({ name }: Operation): CorrectableError {
  const message = `authorise could not tell whether ${name} is allowed to this client; nothing was done`;
  return new CorrectableError('UNAVAILABLE', message);
}

function forbidden({ name }: Operation): CorrectableError {
  return new CorrectableError('FORBIDDEN', `${name} is not allowed to this client`);
}

/** Refuses an update that has been answered already, and one that may have been executed where nobody can tell. */
function refuseRepetition(row: SubmitRow, { record, host }: ConnectedClient): void {
  const id = row[at.id];
  if (id <= record.acked) {
    throw new CorrectableError('EXPIRED_ID', `operation ${id} was acknowledged already; its reply is gone`);
  }
  if (row[at.again] !== true || host.binding.executesOnce === true) return;
  const message = 'the update was sent before, to a server that is gone or has forgotten it: it may have taken effect';
  throw new CorrectableError('UNKNOWN', message);
}

function refuseRate(nowMs: number, { host, rate }: ConnectedClient): void {
  const retryAfterMs = rate.take(nowMs);
  if (retryAfterMs === 0) return;
  const what = `operations a second ${host.authenticated ? 'of this principal' : 'on this connection'}`;
  throw overloaded(host, { limit: 'operationsPerSecondMax', what, todo: 'wait for as long as is said', retryAfterMs });
}

function refuseLoad(frame: ReceivedFrame, { host, load, outlet }: ConnectedClient): void {
  const { sendBufferBytesMax, inFlightMax } = host.bounds;
  if (outlet.waitingBytes > sendBufferBytesMax) {
    const what = 'bytes that wait to be sent on this connection';
    throw overloaded(host, { limit: 'memoryBytesMax', max: sendBufferBytesMax, what, todo: 'read what has come' });
  }
  if (load.operations >= inFlightMax) {
    const what = 'operations under way on this connection';
    throw overloaded(host, { limit: 'inFlightMax', what, todo: 'wait for an answer before the next one' });
  }
  const fullBy = load.total.fullBy(load, frame.addedBytes);
  if (fullBy === undefined) return;
  throw full(host, fullBy, { what: 'requests under way', todo: 'wait for answers, or ask for less at a time' });
}

function requireKeys({ binding }: GatewayHost): void {
  if (binding.hasIdempotencyKeys === true) return;
  const message = `The ${binding.name} binding has no idempotency keys. The write was not applied: invoke it without a key.`;
  throw new CorrectableError('UNSUPPORTED', message, { field: 'idempotencyKey' });
}

/** It is handed on, and kept while the operation is under way. */
function checkTrace(trace: unknown, { owner }: ConnectedClient): void {
  if (trace === undefined || trace === null) return;
  const size = typeof trace === 'string' ? trace.length : owner.codec.encodeValue(trace, 'trace').length;
  if (size <= TRACE_BYTES_MAX) return;
  const message = `trace: takes ${size} bytes, may take ${TRACE_BYTES_MAX}`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'trace' });
}

/** Refusals for want of room: each names the limit to raise, how much it allows, of what, and what to do. */
interface Excess {
  readonly limit: keyof GatewayLimits;
  /** Default: the limit itself. */
  readonly max?: number;
  readonly what: string;
  readonly todo: string;
  readonly retryAfterMs?: number;
}

function overloaded({ counters, bounds }: GatewayHost, { limit, max, what, todo, ...more }: Excess): CorrectableError {
  counters.overloaded++;
  const message = `limits.${limit}: at most ${max ?? bounds[limit]} ${what}; nothing was done: ${todo}`;
  return new CorrectableError('OVERLOADED', message, { retryAfterMs: OVERLOADED_RETRY_MS, ...more });
}

/** Whose part of the budget is used up. */
const WHOSE: Readonly<Record<Whose, string>> = {
  client: 'this client',
  principal: 'all clients of this principal',
  total: 'all clients',
};

function full(host: GatewayHost, whose: Whose, { what, todo }: Pick<Excess, 'what' | 'todo'>): CorrectableError {
  const max = host.bounds.budget[whose];
  return overloaded(host, { limit: 'memoryBytesMax', max, what: `bytes of ${what} of ${WHOSE[whose]}`, todo });
}

function checked(row: SubmitRow, { catalogue, binding }: GatewayHost): Operation {
  const name = row[at.name];
  const effect = row[at.effect];
  const args = row[at.args];
  const operation =
    catalogue === undefined
      ? operationOf(name, effect, args, row[at.key])
      : new CheckedOperation(name, effect, args, catalogue, catalogue.given);
  const isSupported: unknown = binding.supports(operation);
  if (isSupported === true) return operation;
  absorb(isSupported);
  throw new CorrectableError('UNSUPPORTED', `${binding.name} has no operation ${name} with this effect`);
}

function operationOf(name: string, effect: Access, args: unknown, key: unknown): Operation {
  return typeof key === 'string' ? { name, effect, args, key } : { name, effect, args };
}
