/** From a `submit` row to a submission in the hands of the binding, or to the reason why not. */
import type { Binding, BindingSession } from '../../../correctable/binding.ts';
import { CorrectableError, isCorrectableError } from '../../../correctable/errors.ts';
import { isThenable } from '../../../correctable/given.ts';
import type { Operation } from '../../../correctable/operation.ts';
import { strongestOf } from '../../../protocol/rows/levels.ts';
import { submit as kind, type SubmitRow } from '../../../protocol/rows/submit.ts';
import { failRow } from '../../../protocol/wire-errors.ts';
import { admit, authorise } from './admission.ts';
import type { ConnectedClient } from './admission.ts';
import { absorb } from '../submission/hooks.ts';
import type { GatewayHost } from '../host/host.ts';
import { LoadPlace, type ReceivedFrame } from '../limits/load.ts';
import { HostedOperation } from '../submission/hosted-operation.ts';
import { toldError } from '../submission/told-error.ts';

const { at } = kind;

/** A submission that may be executed, once that is decided and its turn comes. */
interface Admitted {
  readonly row: SubmitRow;
  readonly client: ConnectedClient;
  readonly operation: Operation;
  readonly place: LoadPlace;
  /** When it was received. */
  readonly receivedAt: number;
}

/**
 * Executes what the row asks for, once. A repetition is answered from the record of the first time, or by the store if that
 * executes each update once itself.
 */
export function submit(row: SubmitRow, client: ConnectedClient, frame: ReceivedFrame): void {
  const { record, outlet, running, admissions, host, load } = client;
  const id = row[at.id];
  // It is answered when its turn comes.
  if (admissions.has(id)) return;
  const asked = running.get(id);
  if (asked?.isUpdate === true && host.binding.executesOnce === true) {
    // The store answers the repetition: what it answers to the earlier request is for nobody.
    asked.detach();
  } else {
    const known = asked ?? record.find(id);
    if (known !== undefined) {
      if (known instanceof HostedOperation) running.set(id, known);
      return known.repeat(outlet, load);
    }
  }
  try {
    const operation = admit(row, client, frame);
    const decision = authorise(operation, client);
    const admitted: Admitted = {
      row,
      client,
      operation,
      place: new LoadPlace(load, frame),
      receivedAt: frame.servedAt,
    };
    if (decision === undefined && admissions.size === 0) return decided(admitted, undefined);
    admissions.add(id, decision ?? Promise.resolve(), admitted.place, (refusal) => decided(admitted, refusal));
  } catch (error) {
    refuse(row, client, error);
  }
  return undefined;
}

/** Whether a submission with this number is a repetition of one that has begun. */
export function isKnown(id: number, { record, running, admissions }: ConnectedClient): boolean {
  return admissions.has(id) || running.get(id) !== undefined || record.find(id) !== undefined;
}

function refuse(row: SubmitRow, { host, outlet }: ConnectedClient, error: unknown): void {
  if (!isCorrectableError(error)) {
    host.logger.error({ operation: row[at.name], err: error }, 'a check of the gateway failed');
  }
  outlet.push(failRow(row[at.id], toldError(error)));
}

/** What was decided late may have lost its right by then. */
function decided(admitted: Admitted, refusal: unknown): void {
  const { row, client, place } = admitted;
  try {
    if (refusal !== undefined) throw refusal;
    if (client.expiry.hasEnded) throw new CorrectableError('UNAUTHENTICATED', 'the token has ended; nothing was done');
    start(admitted);
  } catch (error) {
    place.leave();
    refuse(row, client, error);
  }
}

function start({ row, client, operation, place, receivedAt }: Admitted): void {
  const { record, owner, host, outlet, running } = client;
  const id = row[at.id];
  const levels = row[at.levels];
  const timeoutMs = row[at.timeoutMs];
  const isUpdate = row[at.effect] === 'update';
  const deadlineAt = typeof timeoutMs === 'number' ? receivedAt + timeoutMs : undefined;
  const strongest = strongestOf(levels);
  const trace = row[at.trace] ?? undefined;
  const session = sessionOf(row, host);
  const move = row[at.move] ?? undefined;
  const isKept = isUpdate && host.binding.executesOnce !== true;
  const idempotencyKey = isUpdate ? (row[at.idempotencyKey] ?? undefined) : undefined;
  const { name } = operation;
  const parts = { id, name, isUpdate, isKept, strongest, deadlineAt, trace, session, move, idempotencyKey, place };
  const submission = new HostedOperation(owner, parts, outlet);
  running.set(id, submission);
  if (isKept) record.record(submission);
  host.counters.submitted++;
  execute(host.binding, operation, host.levelsOf(levels), submission);
}

/** Goes on with the session that the row has tokens of. */
function sessionOf(row: SubmitRow, { binding }: GatewayHost): BindingSession | undefined {
  const tokens = row[at.session];
  if (tokens === undefined || tokens === null) return undefined;
  const session = binding.openSession?.(tokens);
  if (session?.tokens !== undefined) return session;
  absorb(session);
  absorb(session?.close?.());
  const message = `The ${binding.name} binding keeps no sessions that can travel; submit without one, at its strongest level`;
  throw new CorrectableError('UNSUPPORTED', message, { field: 'session' });
}

function execute(binding: Binding, operation: Operation, levels: readonly string[], submission: HostedOperation): void {
  try {
    const returned: unknown = binding.submitOperation(operation, levels, submission, submission);
    if (!isThenable(returned)) return;
    submission.awaits();
    Promise.resolve(returned).then(
      () => submission.close(),
      (error: unknown) => submission.fail(error),
    );
  } catch (error) {
    submission.fail(error);
  }
}
