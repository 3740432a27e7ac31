/** From a `submit` row to a submission in the hands of the binding, or to the reason why not. */
import type { Binding, BindingSession } from '../../correctable/binding.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { isThenable } from '../../correctable/values.ts';
import type { SubmitRow } from '../../protocol/submit.ts';
import { failRow } from '../../protocol/wire-errors.ts';
import { admit, authorise } from './admission.ts';
import type { Guest } from './guest.ts';
import { absorb } from './hooks.ts';
import type { GatewayHost } from './host.ts';
import { Submission } from './submission.ts';
import { toldError } from './told-error.ts';

/** Executes what the row asks for, once: a repetition is answered from the record of the first time. */
export function submit(row: SubmitRow, guest: Guest, receivedAt: number): void {
  const { record, outlet, running, admissions, host } = guest;
  const id = row[0];
  // It is answered when its turn comes.
  if (admissions.has(id)) return;
  const known = running.get(id) ?? record.find(id);
  if (known !== undefined) {
    const hop = host.binding.executesOnce === true ? (row[10]?.[1] ?? 0) : 0;
    if (!known.isSuperseded(hop)) {
      running.set(id, known);
      return known.repeat(outlet);
    }
    // The client came back with it from another site: what the store says to the earlier request is for nobody.
    known.detach();
  }
  try {
    const operation = admit(row, guest, receivedAt);
    const decision = authorise(operation, guest);
    if (decision === undefined && admissions.size === 0) return start(row, guest, operation, receivedAt);
    admissions.add(id, decision ?? Promise.resolve(), (refusal) => {
      if (refusal === undefined) startLater(row, guest, operation, receivedAt);
      else refuse(row, guest, refusal);
    });
  } catch (error) {
    refuse(row, guest, error);
  }
  return undefined;
}

/** Whether a submission with this number is a repetition of one that has begun. */
export function isKnown(id: number, { record, running, admissions }: Guest): boolean {
  return admissions.has(id) || running.get(id) !== undefined || record.find(id) !== undefined;
}

function refuse(row: SubmitRow, { host, outlet }: Guest, error: unknown): void {
  if (!isCorrectableError(error)) {
    host.logger.error({ operation: row[2], err: error }, 'a check of the gateway failed');
  }
  outlet.push(failRow(row[0], toldError(error)));
}

/** What was decided late may have lost its right by then. */
function startLater(row: SubmitRow, guest: Guest, operation: Operation, receivedAt: number): void {
  try {
    if (guest.expiry.hasEnded) throw new CorrectableError('UNAUTHENTICATED', 'the token has ended; nothing was done');
    start(row, guest, operation, receivedAt);
  } catch (error) {
    refuse(row, guest, error);
  }
}

function start(row: SubmitRow, guest: Guest, operation: Operation, receivedAt: number): void {
  const { record, owner, host, outlet, running } = guest;
  const id = row[0];
  const levels = row[4];
  const timeoutMs = row[7];
  const isUpdate = row[3] === 'update';
  const deadlineAt = typeof timeoutMs === 'number' ? receivedAt + timeoutMs : undefined;
  const strongest = 31 - Math.clz32(levels);
  const trace = row[8] ?? undefined;
  const session = sessionOf(row, host);
  const move = row[10] ?? undefined;
  const parts = { id, name: operation.name, isUpdate, strongest, deadlineAt, trace, session, move };
  const submission = new Submission(owner, parts, outlet);
  running.set(id, submission);
  if (isUpdate) record.record(submission);
  host.counters.submitted++;
  execute(host.binding, operation, host.levelsOf(levels), submission);
}

/** Goes on with the session that the row has tokens of. */
function sessionOf(row: SubmitRow, { binding }: GatewayHost): BindingSession | undefined {
  const tokens = row[9];
  if (tokens === undefined || tokens === null) return undefined;
  const session = binding.openSession?.(tokens);
  if (session?.tokens !== undefined) return session;
  absorb(session);
  const message = `The ${binding.name} binding keeps no sessions that can travel; submit without one, at its strongest level`;
  throw new CorrectableError('UNSUPPORTED', message, { field: 'session' });
}

function execute(binding: Binding, operation: Operation, levels: readonly string[], submission: Submission): void {
  try {
    const returned: unknown = binding.submitOperation(operation, levels, submission, submission);
    if (!isThenable(returned)) return;
    Promise.resolve(returned).then(
      () => submission.close(),
      (error: unknown) => submission.fail(error),
    );
  } catch (error) {
    submission.fail(error);
  }
}
