/**
 * Creates the record of a red operation: the choice of its generator, the snapshot, and the reads.
 */
import { toFailure } from '../../../service/records/failures.ts';
import { findCreatedRows } from '../../../service/generator/read-set.ts';
import type { GeneratorOutcome } from '../../../service/generator/generator-runner.ts';
import type { Execution, OperationId, RedOperation } from '../../../service/records/records.ts';
import type { RedRequest, StableRun } from './red-requests.ts';
import type { SubmissionIdentity } from '../../core/submissions.ts';
import type { SiteCore } from '../../core/site-core.ts';
import { getMaxEntry } from '../../../service/records/vector.ts';

/**
 * A record while it is created. Fields that it does not have must stay out of logs and messages.
 */
type RedRecordDraft = { -readonly [K in keyof RedOperation]: RedOperation[K] };

/** A request, or an operation of the site itself, from which a record is created. */
export interface RecordSource {
  readonly id: OperationId;
  /** The ordinal of its home partition. */
  readonly partition: number;
  attempt: number;
  readonly submission: {
    readonly plan: { readonly name: string };
    readonly identity?: SubmissionIdentity | undefined;
  };
}

/**
 * An operation of the site itself is executed once. It is named by its shadow operation, since no
 * client has sent it.
 */
export function createOwnDraft(
  id: OperationId,
  { choice }: GeneratorOutcome,
  partition: number,
): RecordSource {
  const plan = { name: choice?.shadow ?? '' };
  return { id, partition, attempt: 0, submission: { plan } };
}

/** Creates the record of the next attempt. */
export function createRecord(
  { state, clock, wallMs, options }: SiteCore,
  request: RecordSource,
  { outcome, reads: { names, ranges }, others }: StableRun,
  after: readonly Execution[],
): RedOperation {
  const { choice, reply, domainError } = outcome;
  const acknowledged = request.submission.identity?.acknowledged;
  request.attempt += 1;
  const effects = choice?.effects ?? [];
  // An operation that it depends on may have removed the row by then, so that this one creates it
  // again.
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
    snapshot: state.takeSnapshot(),
    operation: request.submission.plan.name,
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
  if (request.partition > 0) record.partition = request.partition;
  if (others !== undefined) record.others = others;
  if (after.length > 0) record.dependencies = after;
  if (domainError !== undefined) record.domainError = toFailure(domainError);
  if (ranges.length > 0) record.ranges = ranges;
  if (created.size > 0) record.created = [...created];
  if (acknowledged !== undefined) record.acknowledged = acknowledged;
  options.observer?.onCreated?.(record);
  return record;
}

/** Whether the record is that of the last attempt of the request, at this start of this site. */
export function isLastAttempt(
  { attempt }: RedRequest,
  operation: RedOperation,
  { site, epoch }: SiteCore['options'],
): boolean {
  return operation.site === site && operation.epoch === epoch && operation.attempt === attempt;
}
