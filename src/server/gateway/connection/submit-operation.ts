/**
 * From a `submit` row to a submission in the hands of the binding, or to the
 * reason why not.
 */
import type {
  Binding,
  BindingSession,
  Principal,
} from '../../../correctable/binding.ts';
import {
  CorrectableError,
  isCorrectableError,
} from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/validate.ts';
import type { Operation } from '../../../correctable/operation.ts';
import { getStrongestIndex } from '../../../protocol/messages/level-bits.ts';
import {
  submit as kind,
  type SubmitMessage,
} from '../../../protocol/messages/submit.ts';
import { toFailMessage } from '../../../protocol/errors.ts';
import { admit, authorize } from './admission.ts';
import type { ConnectedClient } from './admission.ts';
import { ignoreRejection } from '../operations/call-hook.ts';
import type { GatewayContext } from '../context/gateway-context.ts';
import { LoadSlot, type ReceivedFrame } from '../limits/in-flight-load.ts';
import { HostedOperation } from '../operations/hosted-operation.ts';
import { sanitizeError } from '../operations/sanitize-error.ts';

const { at } = kind;

/**
 * A submission that may be executed, once that is decided and its turn comes.
 */
interface AdmittedSubmission {
  readonly message: SubmitMessage;
  readonly client: ConnectedClient;
  readonly operation: Operation;
  /**
   * The one that `authorize` was asked about: a token may be renewed while that
   * decides.
   */
  readonly principal: Principal;
  readonly place: LoadSlot;
  /** When it was received. */
  readonly receivedAt: number;
}

/**
 * Executes what the row asks for, once: a repetition is answered from the
 * record or by the store.
 */
export function submit(
  message: SubmitMessage,
  client: ConnectedClient,
  frame: ReceivedFrame,
): void {
  const { record, outlet, running, admissions, host, load } = client;
  const id = message[at.id];
  // It is answered when its turn comes.
  if (admissions.has(id)) return;
  const requested = running.get(id);
  if (requested?.isWrite === true && host.binding.isExactlyOnce === true) {
    // The store answers the resent request. Its answer to the earlier request
    // has no receiver.
    requested.detach();
  } else {
    const known = requested ?? record.find(id);
    if (known !== undefined) {
      if (known instanceof HostedOperation) running.set(id, known);
      return known.repeat(outlet, load);
    }
  }
  try {
    const operation = admit(message, client, frame);
    const { principal } = client;
    const decision = authorize(operation, client);
    const admitted: AdmittedSubmission = {
      message,
      client,
      operation,
      principal,
      place: new LoadSlot(load, frame),
      receivedAt: frame.servedAt,
    };
    if (decision === undefined && admissions.size === 0)
      return onDecided(admitted, undefined);
    admissions.add(
      id,
      decision ?? Promise.resolve(),
      admitted.place,
      (rejection) => onDecided(admitted, rejection),
    );
  } catch (error) {
    sendRejection(message, client, error);
  }
  return undefined;
}

/**
 * Whether a submission with this number is a repetition of one that has begun.
 */
export function isRepetition(
  id: number,
  { record, running, admissions }: ConnectedClient,
): boolean {
  return (
    admissions.has(id) ||
    running.get(id) !== undefined ||
    record.find(id) !== undefined
  );
}

function sendRejection(
  row: SubmitMessage,
  { host, outlet }: ConnectedClient,
  error: unknown,
): void {
  if (!isCorrectableError(error)) {
    host.logger.error(
      { operation: row[at.name], err: error },
      'a check of the gateway failed',
    );
  }
  const reported = sanitizeError(error);
  // It may have asked for a level that does not exist.
  const strongest = Math.min(
    getStrongestIndex(row[at.levels]),
    host.levels.length - 1,
  );
  host.operationStats.find(row[at.name]).countFailure(strongest, reported);
  outlet.push(toFailMessage(row[at.id], reported));
}

/** What was decided late may have lost its right by then. */
function onDecided(admitted: AdmittedSubmission, rejection: unknown): void {
  const { message, client, place } = admitted;
  try {
    if (rejection !== undefined) throw rejection;
    if (client.expiry.hasEnded)
      throw new CorrectableError(
        'UNAUTHENTICATED',
        'the token has ended; nothing was done',
      );
    startOperation(admitted);
  } catch (error) {
    place.release();
    sendRejection(message, client, error);
  }
}

function startOperation({
  message,
  client,
  operation,
  principal,
  place: slot,
  receivedAt,
}: AdmittedSubmission): void {
  const { record, owner, host, outlet, running } = client;
  const id = message[at.id];
  const levels = message[at.levels];
  const timeoutMs = message[at.timeoutMs];
  const isWrite = message[at.access] === 'write';
  const deadlineAt =
    typeof timeoutMs === 'number' ? receivedAt + timeoutMs : undefined;
  const strongest = getStrongestIndex(levels);
  const session = openMessageSession(message, host);
  const move = message[at.move] ?? undefined;
  const isRetained = isWrite && host.binding.isExactlyOnce !== true;
  const idempotencyKey = isWrite
    ? (message[at.idempotencyKey] ?? undefined)
    : undefined;
  const { name } = operation;
  const parts = {
    id,
    name,
    isWrite,
    isRetained,
    strongest,
    deadlineAt,
    move,
    idempotencyKey,
    principal,
    slot,
    receivedAt,
    stats: host.operationStats,
  };
  const submission = new HostedOperation(
    owner,
    parts,
    outlet,
    session,
    message[at.trace] ?? undefined,
  );
  running.set(id, submission);
  if (isRetained) record.record(submission);
  host.stats.submitted++;
  execute(host.binding, operation, host.getLevels(levels), submission);
}

/** Goes on with the session that the row has tokens of. */
function openMessageSession(
  row: SubmitMessage,
  { binding }: GatewayContext,
): BindingSession | undefined {
  const tokens = row[at.session];
  if (tokens === undefined || tokens === null) return undefined;
  const session = binding.openSession?.(tokens);
  if (session?.tokens !== undefined) return session;
  ignoreRejection(session);
  ignoreRejection(session?.close?.());
  const message = `The ${binding.name} binding keeps no sessions that can travel; submit without one, at its strongest level`;
  throw new CorrectableError('UNSUPPORTED', message, { field: 'session' });
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
