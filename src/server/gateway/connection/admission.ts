/**
 * Decides whether a submission may be executed. It checks the operation, the limits of load, and
 * the application's `authorize`.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/validate.ts';
import type { Operation } from '../../../correctable/operation.ts';
import { CheckedOperation } from '../../../protocol/hosting.ts';
import { createUnknownOperationError } from '../../../contract/operation-registry.ts';
import { getStrongestIndex } from '../../../protocol/messages/level-bits.ts';
import { submit, type SubmitMessage } from '../../../protocol/messages/submit.ts';
import { ENTRY_BYTES, type ClientRecord, type Outlet } from '../clients/client-table.ts';
import {
  HookTimeoutError,
  ignoreRejection,
  callHook,
  isUndecided,
} from '../operations/call-hook.ts';
import type { HostedContract, HostedEntry } from '../context/compile-schema.ts';
import type { GatewayContext, Principal } from '../context/gateway-context.ts';
import { OVERLOADED_RETRY_MS, type GatewayLimits } from '../limits/limits.ts';
import type { ConnectionLoad, ReceivedFrame, BudgetOwner } from '../limits/in-flight-load.ts';
import type { SequenceMap } from '../../../protocol/sequence-map.ts';
import type { AdmissionQueue } from './admission-queue.ts';
import type { TokenExpiry } from './token-check.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import type { HostedOperation } from '../operations/hosted-operation.ts';
import type { SubmissionOwner } from '../operations/submission-types.ts';

export interface ConnectedClient {
  readonly record: ClientRecord;
  /** Changes when the client renews its token. */
  principal: Principal;
  readonly expiry: TokenExpiry;
  /**
   * Shared by all connections of its principal. Without `authenticate`, each connection has its
   * own.
   */
  readonly rate: RateLimit;
  readonly owner: SubmissionOwner;
  readonly context: GatewayContext;
  readonly outlet: ClientOutlet;
  readonly load: ConnectionLoad;
  /** The operations that this connection waits for, by number. */
  readonly running: SequenceMap<HostedOperation>;
  /** Submissions for which `authorize` has not decided yet. */
  readonly admissions: AdmissionQueue;
}

export interface ClientOutlet extends Outlet {
  readonly waitingBytes: number;
}

const { at } = submit;

/**
 * Maximum size of the trace of an operation, in bytes. A W3C `traceparent` with `tracestate` takes
 * a tenth of it.
 */
const MAX_TRACE_BYTES = 4_096;

/**
 * Returns the operation that the message asks for. Throws the reason if it is refused. `entry` is
 * the operation's entry in the contract of the gateway, if there is one.
 */
export function admit(
  message: SubmitMessage,
  entry: HostedEntry | undefined,
  client: ConnectedClient,
  frame: ReceivedFrame,
): Operation {
  const { record, context, admissions } = client;
  const levels = message[at.levels];
  if (message[at.access] === 'write') rejectRepetition(message, client);
  rejectOverLoad(frame, client);
  rejectOverRate(frame.servedAt, client);
  if (getStrongestIndex(levels) >= context.levels.length) {
    throw new CorrectableError('UNKNOWN_LEVEL', `levels: only ${context.levels.join(', ')} exist`, {
      field: 'levels',
    });
  }
  if (message[at.access] === 'write' && context.binding.isExactlyOnce !== true) {
    // Count the submissions that wait for `authorize` too: their replies will need memory.
    const fullBy = context.clients.findFullBudget(record, ENTRY_BYTES * (admissions.size + 1));
    if (fullBy !== undefined)
      throw budgetFullError(context, fullBy, {
        unit: 'replies kept',
        advice: 'acknowledge those that have come',
      });
  }
  checkTrace(message[at.trace], client);
  if (message[at.access] === 'write' && typeof message[at.idempotencyKey] === 'string')
    requireKeys(context);
  return checkOperation(message, entry, context);
}

/**
 * Calls `authorize`, if the application has one. Only `true` allows the operation. Throws, or
 * rejects, with the reason if it is refused.
 */
export function authorize(
  operation: Operation,
  client: ConnectedClient,
): Promise<void> | undefined {
  const { context, principal } = client;
  if (context.authorize === undefined) return undefined;
  let value: unknown;
  try {
    value = context.authorize(principal, operation);
    if (isThenable(value)) return awaitAuthorization(value, operation, context);
  } catch (error) {
    throw logHookError(error, operation, context);
  }
  assertAllowed(value, operation);
  return undefined;
}

async function awaitAuthorization(
  value: PromiseLike<unknown>,
  operation: Operation,
  context: GatewayContext,
): Promise<void> {
  let allowed: unknown;
  try {
    allowed = await callHook('authorize', context.internalLimits.hookTimeoutMs, () => value);
  } catch (error) {
    throw logHookError(error, operation, context);
  }
  assertAllowed(allowed, operation);
}

function assertAllowed(allowed: unknown, operation: Operation): void {
  if (allowed !== true) throw forbiddenError(operation);
}

function logHookError(
  error: unknown,
  operation: Operation,
  { logger }: GatewayContext,
): CorrectableError {
  const fields = { operation: operation.name, err: error };
  if (isUndecided(error)) {
    logger.warn(fields, 'authorize failed to decide whether an operation is allowed');
    if (error instanceof HookTimeoutError) return error;
    // Do not send the text of the hook's error: it may name internal services.
    const message = `authorize failed to decide whether this client may call ${operation.name}; nothing was done`;
    return new CorrectableError('UNAVAILABLE', message);
  }
  logger.error(fields, 'authorize failed: the operation is refused');
  return forbiddenError(operation);
}

function forbiddenError({ name }: Operation): CorrectableError {
  return new CorrectableError('FORBIDDEN', `${name} is not allowed to this client`);
}

/**
 * Rejects a resent write whose answer the client has acknowledged already, and one whose outcome is
 * unknown.
 */
function rejectRepetition(message: SubmitMessage, { record, context }: ConnectedClient): void {
  const id = message[at.id];
  if (id <= record.acknowledged) {
    throw new CorrectableError(
      'REPLY_EXPIRED',
      `operation ${id} was acknowledged already; its reply is gone`,
    );
  }
  if (message[at.isResend] !== true || context.binding.isExactlyOnce === true) return;
  const text =
    'the write was sent before, to a server that is gone or has forgotten it: it may have taken effect';
  throw new CorrectableError('UNKNOWN', text);
}

function rejectOverRate(nowMs: number, { context, rate }: ConnectedClient): void {
  const retryAfterMs = rate.tryTake(nowMs);
  if (retryAfterMs === 0) return;
  throw overloadedError(context, {
    limit: 'maxOperationsPerSecond',
    unit: `operations a second ${context.requiresAuthentication ? 'of this principal' : 'on this connection'}`,
    advice: 'wait for retryAfterMs',
    retryAfterMs,
  });
}

function rejectOverLoad(frame: ReceivedFrame, { context, load, outlet }: ConnectedClient): void {
  const { maxSendBufferBytes, maxInFlight } = context.internalLimits;
  if (outlet.waitingBytes > maxSendBufferBytes) {
    throw overloadedError(context, {
      limit: 'maxMemoryBytes',
      max: maxSendBufferBytes,
      unit: 'bytes that wait to be sent on this connection',
      advice: 'read what has come',
    });
  }
  if (load.operations >= maxInFlight) {
    throw overloadedError(context, {
      limit: 'maxInFlight',
      unit: 'operations in flight on this connection',
      advice: 'wait for an answer before the next one',
    });
  }
  const fullBy = load.total.findFullBudget(load, frame.addedBytes);
  if (fullBy === undefined) return;
  throw budgetFullError(context, fullBy, {
    unit: 'requests in flight',
    advice: 'wait for answers, or ask for less at a time',
  });
}

function requireKeys({ binding }: GatewayContext): void {
  if (binding.hasIdempotencyKeys === true) return;
  const message = `The ${binding.name} binding has no idempotency keys. The write was not applied: invoke it without a key.`;
  throw new CorrectableError('UNSUPPORTED', message, {
    field: 'idempotencyKey',
  });
}

/** The trace is passed on, and kept while the operation is in flight. */
function checkTrace(trace: unknown, { owner }: ConnectedClient): void {
  if (trace === undefined || trace === null) return;
  const size =
    typeof trace === 'string' ? trace.length : owner.codec.encodeValue(trace, 'trace').length;
  if (size <= MAX_TRACE_BYTES) return;
  const message = `trace: takes ${size} bytes, may take ${MAX_TRACE_BYTES}`;
  throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'trace' });
}

/**
 * The facts of a refusal because of a limit: the limit to raise, what it counts, and the advice.
 */
interface LimitExceeded {
  readonly limit: keyof GatewayLimits;
  /** Default: the limit itself. */
  readonly max?: number;
  readonly unit: string;
  readonly advice: string;
  readonly retryAfterMs?: number;
}

function overloadedError(
  { stats, internalLimits }: GatewayContext,
  { limit, max, unit, advice, ...more }: LimitExceeded,
): CorrectableError {
  stats.overloaded++;
  const message = `limits.${limit}: at most ${max ?? internalLimits[limit]} ${unit}; nothing was done: ${advice}`;
  return new CorrectableError('OVERLOADED', message, {
    retryAfterMs: OVERLOADED_RETRY_MS,
    ...more,
  });
}

const BUDGET_OWNERS: Readonly<Record<BudgetOwner, string>> = {
  client: 'this client',
  principal: 'all clients of this principal',
  total: 'all clients',
};

function budgetFullError(
  context: GatewayContext,
  whose: BudgetOwner,
  { unit, advice }: { readonly unit: string; readonly advice: string },
): CorrectableError {
  return overloadedError(context, {
    limit: 'maxMemoryBytes',
    max: context.internalLimits.budget[whose],
    unit: `bytes of ${unit} of ${BUDGET_OWNERS[whose]}`,
    advice,
  });
}

function checkOperation(
  message: SubmitMessage,
  entry: HostedEntry | undefined,
  { hostedContract, binding }: GatewayContext,
): Operation {
  const name = message[at.name];
  const operation =
    hostedContract === undefined
      ? toOperation(message)
      : createChecked(message, entry, hostedContract);
  const isSupported: unknown = binding.supports(operation);
  if (isSupported === true) return operation;
  ignoreRejection(isSupported);
  const reason: unknown = binding.describeUnsupported?.(operation);
  const suffix = typeof reason === 'string' ? `: ${reason}` : '';
  throw new CorrectableError(
    'UNSUPPORTED',
    `${binding.name} has no operation ${name} with this effect${suffix}`,
  );
}

function createChecked(
  message: SubmitMessage,
  entry: HostedEntry | undefined,
  contract: HostedContract,
): Operation {
  const name = message[at.name];
  if (entry === undefined)
    throw createUnknownOperationError(contract.name, name, contract.operations.keys());
  const submitted = { name, access: message[at.access], args: message[at.args] };
  return new CheckedOperation(submitted, entry, contract, entry.prepared);
}

/** Both forms are literals, since a copy of an object costs many times more. */
function toOperation(message: SubmitMessage): Operation {
  const name = message[at.name];
  const access = message[at.access];
  const args = message[at.args];
  const key: unknown = message[at.key];
  return typeof key === 'string' ? { name, access, args, key } : { name, access, args };
}
