/** Whether a submission may be executed: what it asks for, how much is under way, and what the application says. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/given.ts';
import type { Access, Operation } from '../../../correctable/operation.ts';
import { CheckedOperation } from '../../../protocol/contract/checked-operation.ts';
import { strongestOf } from '../../../protocol/rows/levels.ts';
import { submit, type SubmitRow } from '../../../protocol/rows/submit.ts';
import { ENTRY_BYTES } from '../clients/client-record.ts';
import type { ConnectedClient } from './connected-client.ts';
import { absorb, askHook, HookTimeout, isUndecided } from '../submission/hooks.ts';
import type { GatewayHost } from '../host/host.ts';
import { OVERLOADED_RETRY_MS } from '../limits/limits.ts';
import type { ReceivedFrame } from '../limits/load.ts';
import { beyond, type Budget } from '../limits/overload.ts';

const { at } = submit;

/** How much a client may hand on with an operation: a W3C `traceparent` and `tracestate` take a tenth of it. */
const TRACE_BYTES_MAX = 4_096;

/** The operation that the row asks for, if there is nothing against it. Throws why it is refused. */
export function admit(row: SubmitRow, client: ConnectedClient, frame: ReceivedFrame): Operation {
  const { record, host } = client;
  const levels = row[at.levels];
  if (row[at.effect] === 'update') refuseRepetition(row, client);
  refuseOverload(row, client);
  refuseLoad(frame, client);
  refuseRate(frame.servedAt, client);
  if (strongestOf(levels) >= host.levels.length) {
    throw new CorrectableError('UNKNOWN_LEVEL', `levels: only ${host.levels.join(', ')} exist`, { field: 'levels' });
  }
  if (row[at.effect] === 'update' && host.binding.executesOnce !== true) {
    const fullBy = host.clients.fullBy(record, ENTRY_BYTES);
    if (fullBy !== undefined) throw overloaded(host, fullBy);
  }
  checkTrace(row[at.trace], client);
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
    allowed = await askHook('authorise', host.limits.hookTimeoutMs, () => given);
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

/** Takes a permit of either bucket, or of none: what is refused by the one must cost nobody the other's. */
function refuseRate(nowMs: number, { host, rate, sharedRate }: ConnectedClient): void {
  const ownMs = rate.waitMs(nowMs);
  const sharedMs = sharedRate.waitMs(nowMs);
  if (ownMs > 0 || sharedMs > 0) {
    const limit = ownMs >= sharedMs ? 'operationsPerSecondMax' : 'operationsPerSecondPerPrincipalMax';
    throw overloaded(host, limit, Math.max(ownMs, sharedMs));
  }
  rate.take(nowMs);
  sharedRate.take(nowMs);
}

function refuseLoad(frame: ReceivedFrame, { host, load }: ConnectedClient): void {
  const { operations, total } = load;
  if (operations >= host.limits.inFlightMax) throw overloaded(host, 'inFlightMax');
  const fullBy = total.fullBy(load, frame.addedBytes);
  if (fullBy !== undefined) throw overloaded(host, fullBy);
  // Whatever else is true, a connection may have one operation under way.
  if (operations > 0 && load.isTooMuchInCrowd(frame.addedBytes)) throw crowded(host);
}

/** It is handed on, and kept while the operation is under way. */
function checkTrace(trace: unknown, { owner }: ConnectedClient): void {
  if (trace === undefined || trace === null) return;
  const size = typeof trace === 'string' ? trace.length : owner.codec.encodeValue(trace, 'trace').length;
  if (size <= TRACE_BYTES_MAX) return;
  const message = `trace: takes ${size} bytes, may take ${TRACE_BYTES_MAX}`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'trace' });
}

function refuseOverload(row: SubmitRow, { record, host, admissions, outlet }: ConnectedClient): void {
  const { sendBufferBytesMax, repliesMax } = host.limits;
  if (outlet.waitingBytes > sendBufferBytesMax) throw overloaded(host, 'sendBufferBytesMax');
  if (row[at.effect] === 'update' && record.size + admissions.size >= repliesMax) throw overloaded(host, 'repliesMax');
}

function overloaded({ counters, limits }: GatewayHost, limit: Budget, retryAfterMs?: number): CorrectableError {
  counters.overloaded++;
  return beyond(limit, limits, retryAfterMs);
}

function crowded({ counters }: GatewayHost): CorrectableError {
  counters.overloaded++;
  const message =
    'the store is busy with operations of clients that are gone; nothing was done: wait for an answer before the next one';
  return new CorrectableError('OVERLOADED', message, { retryAfterMs: OVERLOADED_RETRY_MS });
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
