/**
 * What a site proposes for a red operation: what its generator chose, on which
 * snapshot, and what it had read.
 */
import { toFailure } from '../../../records/failures.ts';
import { findCreatedRows } from '../../../generator/read-set.ts';
import type { GeneratorOutcome } from '../../../generator/generator-runner.ts';
import type {
  Execution,
  OperationId,
  RedOperation,
} from '../../../records/records.ts';
import type { RedRequest, StableRun } from './red-requests.ts';
import type { Submission } from '../../../records/submissions.ts';
import type { ReplicaCore } from '../../core/replica-port.ts';
import { getMaxEntry } from '../../../records/vector.ts';

/**
 * A record while it is made: what it does not have stays out of logs and
 * messages.
 */
type RedRecordDraft = { -readonly [K in keyof RedOperation]: RedOperation[K] };

/** Of whom a record is made. */
interface RecordSource extends Pick<RedRequest, 'id' | 'attempt'> {
  readonly submission: Pick<Submission, 'operation' | 'identity'>;
}

/**
 * What the site does by itself: it is tried once, and named by its shadow
 * operation, since no client has asked.
 */
export function createOwnDraft(
  id: OperationId,
  { choice }: GeneratorOutcome,
): RecordSource {
  return { id, attempt: 0, submission: { operation: choice?.shadow ?? '' } };
}

/** The record of the next attempt. */
export function createRecord(
  { state, clock, wallMs, options }: ReplicaCore,
  request: RecordSource,
  { outcome, reads: { names, ranges } }: StableRun,
  after: readonly Execution[],
): RedOperation {
  const { choice, reply, domainError } = outcome;
  const acknowledged = request.submission.identity?.acknowledged;
  request.attempt += 1;
  const effects = choice?.effects ?? [];
  // What it stands on may have removed a row by then, which it brings in again.
  const isLaid = (table: string, key: string): boolean =>
    after.length > 0 && state.pipelined.covers(table, key);
  const isThere = (table: string, key: string): boolean =>
    state.store.existsByRed(table, key) && !isLaid(table, key);
  const created = findCreatedRows(effects, isThere);
  const record: RedRecordDraft = {
    kind: 'operation',
    id: request.id,
    site: options.site,
    attempt: request.attempt,
    epoch: options.epoch,
    snapshot: state.stable.slice(),
    operation: request.submission.operation,
    reads: [...names],
    clock: clock.next(wallMs, getMaxEntry(state.stable)),
    effects,
    reply,
  };
  if (choice !== undefined) {
    record.shadow = choice.shadow;
    if (options.service.shadowOperations[choice.shadow]?.reply !== undefined)
      record.args = choice.args;
  }
  if (after.length > 0) record.dependencies = after;
  if (domainError !== undefined) record.domainError = toFailure(domainError);
  if (ranges.length > 0) record.ranges = ranges;
  if (created.size > 0) record.created = [...created];
  if (acknowledged !== undefined) record.acknowledged = acknowledged;
  options.observer?.onCreated?.(record);
  return record;
}

/**
 * Whether the record is that of the last execution of the request, at this
 * start of this site.
 */
export function isLastAttempt(
  { attempt }: RedRequest,
  operation: RedOperation,
  { site, epoch }: ReplicaCore['options'],
): boolean {
  return (
    operation.site === site &&
    operation.epoch === epoch &&
    operation.attempt === attempt
  );
}
