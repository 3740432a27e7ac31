/**
 * Submits the operation of a `submit` message to the hosted binding, or replies with the reason of
 * the refusal.
 */
import type { Binding, BindingSession, Principal } from '../../../correctable/binding.ts';
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/validate.ts';
import type { Operation } from '../../../correctable/operation.ts';
import { getStrongestIndex } from '../../../protocol/messages/level-bits.ts';
import { submit as kind, type SubmitMessage } from '../../../protocol/messages/submit.ts';
import { toFailMessage } from '../../../protocol/errors.ts';
import { admit, authorize } from './admission.ts';
import type { ConnectedClient } from './admission.ts';
import { ignoreRejection } from '../operations/call-hook.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { LoadSlot, type ReceivedFrame } from '../limits/in-flight-load.ts';
import type { OperationFigures } from '../operations/operation-stats.ts';
import { HostedOperation } from '../operations/hosted-operation.ts';
import { RetainedWrite } from '../operations/retained-write.ts';
import { sanitizeError } from '../operations/sanitize-error.ts';

const { at } = kind;

/**
 * A submission that passed the checks. It is executed once `authorize` has allowed it and all
 * earlier submissions are decided.
 */
interface AdmittedSubmission {
  readonly message: SubmitMessage;
  readonly client: ConnectedClient;
  readonly operation: Operation;
  /** The statistics of the operation, if a contract names it. */
  readonly figures: OperationFigures | undefined;
  /** The principal that `authorize` has decided about. The token may be renewed meanwhile. */
  readonly principal: Principal;
  readonly slot: LoadSlot;
  readonly receivedAt: number;
}

/**
 * Executes the operation of the message once. A resent operation is answered from the record of the
 * client, or by the store.
 */
export function submit(
  message: SubmitMessage,
  client: ConnectedClient,
  frame: ReceivedFrame,
): void {
  const { record, outlet, running, admissions, context, load } = client;
  const id = message[at.id];
  // The waiting submission is answered when its turn comes.
  if (admissions.has(id)) return;
  const requested = running.get(id);
  if (requested?.isWrite === true && context.binding.isExactlyOnce === true) {
    // The store answers the resent request, and the earlier request gets no answer.
    requested.detach();
  } else {
    const known = requested ?? record.find(id);
    if (known !== undefined) {
      if (known instanceof HostedOperation) running.set(id, known);
      return known.repeat(outlet, load);
    }
  }
  try {
    const entry = context.hostedContract?.operations.get(message[at.name]);
    const operation = admit(message, entry, client, frame);
    const { principal } = client;
    const decision = authorize(operation, client);
    const admitted: AdmittedSubmission = {
      message,
      client,
      operation,
      figures: entry?.figures,
      principal,
      slot: new LoadSlot(load, frame),
      receivedAt: frame.servedAt,
    };
    if (decision === undefined && admissions.size === 0) return onDecided(admitted, undefined);
    admissions.add(id, decision ?? Promise.resolve(), admitted.slot, (rejection) =>
      onDecided(admitted, rejection),
    );
  } catch (error) {
    sendRejection(message, client, error);
  }
  return undefined;
}

/** Returns whether a submission with this number has begun already. */
export function isRepetition(
  id: number,
  { record, running, admissions }: ConnectedClient,
): boolean {
  return admissions.has(id) || running.get(id) !== undefined || record.find(id) !== undefined;
}

function sendRejection(
  message: SubmitMessage,
  { context, outlet }: ConnectedClient,
  error: unknown,
): void {
  if (!isCorrectableError(error)) {
    context.logger.error(
      { operation: message[at.name], err: error },
      'a check of the gateway failed',
    );
  }
  const reported = sanitizeError(error);
  // The client may have requested a level that does not exist.
  const strongest = Math.min(getStrongestIndex(message[at.levels]), context.levels.length - 1);
  context.operationStats.find(message[at.name]).countFailure(strongest, reported);
  outlet.push(toFailMessage(message[at.id], reported));
}

/** Handles the decision about a submission. The token may have expired before the decision. */
function onDecided(admitted: AdmittedSubmission, rejection: unknown): void {
  const { message, client, slot } = admitted;
  try {
    if (rejection !== undefined) throw rejection;
    if (client.expiry.hasEnded)
      throw new CorrectableError('UNAUTHENTICATED', 'the token has ended; nothing was done');
    startOperation(admitted);
  } catch (error) {
    slot.release();
    sendRejection(message, client, error);
  }
}

function startOperation({
  message,
  client,
  operation,
  figures,
  principal,
  slot,
  receivedAt,
}: AdmittedSubmission): void {
  const { record, owner, context, outlet, running } = client;
  const id = message[at.id];
  const levels = message[at.levels];
  const timeoutMs = message[at.timeoutMs];
  const isWrite = message[at.access] === 'write';
  const deadlineAt = typeof timeoutMs === 'number' ? receivedAt + timeoutMs : undefined;
  const strongest = getStrongestIndex(levels);
  const session = openMessageSession(message, context);
  const move = message[at.move] ?? undefined;
  const idempotencyKey = isWrite ? (message[at.idempotencyKey] ?? undefined) : undefined;
  const { name } = operation;
  const parts = {
    id,
    name,
    isWrite,
    strongest,
    deadlineAt,
    move,
    idempotencyKey,
    principal,
    slot,
    receivedAt,
    figures,
    stats: context.operationStats,
  };
  // A store that is exactly once remembers its writes itself.
  const isRetained = isWrite && context.binding.isExactlyOnce !== true;
  const Submission = isRetained ? RetainedWrite : HostedOperation;
  const submission = new Submission(owner, parts, outlet, session, message[at.trace] ?? undefined);
  running.set(id, submission);
  if (submission instanceof RetainedWrite) record.record(submission);
  context.stats.submitted++;
  execute(context.binding, operation, context.getLevels(levels), submission);
}

/** Opens the session that the tokens of the message continue. */
function openMessageSession(
  message: SubmitMessage,
  { binding }: GatewayContext,
): BindingSession | undefined {
  const tokens = message[at.session];
  if (tokens === undefined || tokens === null) return undefined;
  const session = binding.openSession?.(tokens);
  if (session?.tokens !== undefined) return session;
  ignoreRejection(session);
  ignoreRejection(session?.close?.());
  const text = `The ${binding.name} binding keeps no sessions that can travel; submit without one, at its strongest level`;
  throw new CorrectableError('UNSUPPORTED', text, { field: 'session' });
}

function execute(
  binding: Binding,
  operation: Operation,
  levels: readonly string[],
  submission: HostedOperation,
): void {
  try {
    const returned: unknown = binding.submitOperation(
      operation,
      levels,
      submission,
      submission.context,
    );
    if (!isThenable(returned)) return;
    submission.awaitPromise();
    Promise.resolve(returned).then(
      () => submission.close(),
      (error: unknown) => submission.fail(error),
    );
  } catch (error) {
    submission.fail(error);
  }
}
