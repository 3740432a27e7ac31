/** From a `submit` row to a submission in the hands of the binding, or to the reason why not. */
import type { Binding, BindingSession } from '../../correctable/binding.ts';
import { CorrectableError, isCorrectableError } from '../../correctable/errors.ts';
import type { Operation } from '../../correctable/operation.ts';
import { CheckedOperation } from '../../protocol/checked-operation.ts';
import type { NumberedTable } from '../../protocol/numbered-table.ts';
import type { SubmitRow } from '../../protocol/submit.ts';
import { failRow } from '../../protocol/wire-errors.ts';
import type { ClientRecord } from './client-table.ts';
import type { GatewayHost, Principal } from './host.ts';
import { OVERLOADED_RETRY_MS } from './limits.ts';
import type { RateLimit } from './rate-limit.ts';
import type { ServerSocket } from './socket.ts';
import { Submission, type Outlet, type SubmissionOwner } from './submission.ts';

/** A client that was let in, on its present connection. */
export interface Guest {
  readonly record: ClientRecord;
  /** Changes when the client renews its token. */
  principal: Principal;
  readonly rate: RateLimit;
  readonly owner: SubmissionOwner;
  readonly host: GatewayHost;
  readonly outlet: Outlet;
  /** The operations under way on this connection, by number. */
  readonly running: NumberedTable<Submission>;
  readonly socket: Pick<ServerSocket, 'bufferedBytes'>;
}

/** Executes what the row asks for, once: a repetition is answered from the record of the first time. */
export function submit(row: SubmitRow, guest: Guest, receivedAt: number): void {
  const { record, host, outlet, running } = guest;
  const id = row[0];
  const known = running.get(id) ?? record.find(id);
  if (known !== undefined && !known.isSuperseded(row[10]?.[1] ?? 0)) {
    running.set(id, known);
    return known.repeat(outlet);
  }
  // The client came back with it from another site: what the store says to the earlier request is for nobody.
  known?.detach();
  try {
    start(row, guest, admit(row, guest, receivedAt), receivedAt);
  } catch (error) {
    if (!isCorrectableError(error))
      host.logger.error({ operation: row[2], err: error }, 'a check of the gateway failed');
    outlet.push(failRow(id, error));
  }
}

/** The operation, if it may be executed. */
function admit(row: SubmitRow, guest: Guest, receivedAt: number): Operation {
  const { record, principal, host } = guest;
  const id = row[0];
  const levels = row[4];
  if (id <= record.acked) {
    throw new CorrectableError('EXPIRED_ID', `operation ${id} was acknowledged already; its reply is gone`);
  }
  refuseOverload(row, guest);
  const waitMs = guest.rate.take(receivedAt);
  if (waitMs > 0) throw overloaded(host, 'more operations a second than this connection may submit', waitMs);
  if (Math.clz32(levels) < 32 - host.levels.length) {
    throw new CorrectableError('UNKNOWN_LEVEL', `levels: only ${host.levels.join(', ')} exist`, { field: 'levels' });
  }
  const operation = checked(row, host);
  if (!host.authorise(principal, operation)) {
    throw new CorrectableError('FORBIDDEN', `${operation.name} is not allowed to this client`);
  }
  return operation;
}

function refuseOverload(row: SubmitRow, { record, host, running, socket }: Guest): void {
  const { inFlightMax, sendBufferBytesMax, repliesMax } = host.limits;
  let message: string | undefined;
  if (running.size >= inFlightMax) message = `${inFlightMax} operations are under way on this connection`;
  else if (socket.bufferedBytes > sendBufferBytesMax) message = 'the client reads too slowly';
  else if (row[3] === 'update' && record.size >= repliesMax) message = 'too many replies wait for an ack';
  if (message !== undefined) throw overloaded(host, message, OVERLOADED_RETRY_MS);
}

function overloaded({ counters }: GatewayHost, message: string, retryAfterMs: number): CorrectableError {
  counters.overloaded++;
  return new CorrectableError('OVERLOADED', message, { retryAfterMs });
}

function checked(row: SubmitRow, { catalogue, binding }: GatewayHost): Operation {
  const operation = catalogue === undefined ? operationOf(row) : new CheckedOperation(row, catalogue, catalogue.given);
  if (binding.supports(operation)) return operation;
  throw new CorrectableError('UNSUPPORTED', `${binding.name} has no operation ${row[2]} with this effect`);
}

function operationOf(row: SubmitRow): Operation {
  const [, , name, effect, , args, key] = row;
  return typeof key === 'string' ? { name, effect, args, key } : { name, effect, args };
}

function start(row: SubmitRow, guest: Guest, operation: Operation, receivedAt: number): void {
  const { record, owner, host, outlet, running } = guest;
  const id = row[0];
  const levels = row[4];
  const timeoutMs = row[7];
  const deadlineAt = typeof timeoutMs === 'number' ? receivedAt + timeoutMs : undefined;
  const strongest = 31 - Math.clz32(levels);
  const trace = row[8] ?? undefined;
  const session = sessionOf(row, host);
  const move = row[10] ?? undefined;
  const parts = { id, name: operation.name, strongest, deadlineAt, trace, session, move };
  const submission = new Submission(owner, parts, outlet);
  running.set(id, submission);
  if (row[3] === 'update') record.record(submission);
  host.counters.submitted++;
  execute(host.binding, operation, host.levelsOf(levels), submission);
}

/** Goes on with the session that the row has tokens of. */
function sessionOf(row: SubmitRow, { binding }: GatewayHost): BindingSession | undefined {
  const tokens = row[9];
  if (tokens === undefined || tokens === null) return undefined;
  const session = binding.openSession?.(tokens);
  if (session?.tokens !== undefined) return session;
  const message = `The ${binding.name} binding keeps no sessions that can travel; submit without one, at its strongest level`;
  throw new CorrectableError('UNSUPPORTED', message, { field: 'session' });
}

function execute(binding: Binding, operation: Operation, levels: readonly string[], submission: Submission): void {
  try {
    const returned: unknown = binding.submitOperation(operation, levels, submission, submission);
    if (!(returned instanceof Promise)) return;
    returned.then(
      () => submission.close(),
      (error: unknown) => submission.fail(error),
    );
  } catch (error) {
    submission.fail(error);
  }
}
