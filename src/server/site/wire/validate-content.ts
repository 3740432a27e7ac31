/**
 * Checks the content of a message of another site: whether this service knows its effects, and
 * whether a clock can have created its stamps. Its schema was checked before. Without this check,
 * invalid content would stop the site that applies it, and an invalid record of the red log would
 * stop every site.
 */
import { getProposer } from '../lane/global-records.ts';
import { MAX_STAMP } from '../../log/clock.ts';
import type { Effect } from '../../service/records/effect.ts';
import type { Origin, Origins } from '../../service/records/origin.ts';
import type { BlueOperation, RedOperation, RedRecord } from '../../service/records/records.ts';
import type { Vector } from '../../service/records/vector.ts';
import { isLogMessage } from '../../log/red-log.ts';
import type { LogMessageFormat, ProposedRecord } from '../../log/red-log-engine.ts';
import type { EffectValidator } from '../../service/effect-validator.ts';
import { RejectedMessageError, type Envelope, type SiteMessage } from './envelope.ts';

type EffectChecker = EffectValidator;

const WRITTEN_KINDS: ReadonlySet<Envelope['message']['kind']> = new Set([
  'blue.operations',
  'slot.request',
  'slot.answered',
  'rights.request',
]);

/**
 * Returns whether the message contains entries that have to be stored. If the disk is full, such a
 * message is refused, and is resent later.
 */
export function needsRoom(message: Envelope['message'], log: LogMessageFormat): boolean {
  return isLogMessage(message) ? log.needsRoom(message) : WRITTEN_KINDS.has(message.kind);
}

interface ContentCheckOptions {
  readonly known: EffectChecker;
  readonly log: LogMessageFormat;
  /** The sites that are known here. */
  readonly origins: Origins;
}

/** Returns the reason if a message from a site must be refused. */
export function findContentRejection(
  message: SiteMessage,
  from: Origin,
  options: ContentCheckOptions,
): RejectedMessageError | undefined {
  const unknown = isLogMessage(message) ? undefined : findUnknownOrigin(message, options.origins);
  if (unknown !== undefined) {
    const description = `it is about ordinal ${unknown}, which is not known here`;
    return new RejectedMessageError('origin', description, from);
  }

  const problem = describeContentProblem(message, from, options);
  return problem === undefined ? undefined : new RejectedMessageError('content', problem, from);
}

/** Describes the problem of a message from a site. Returns `undefined` if there is none. */
function describeContentProblem(
  message: SiteMessage,
  from: Origin,
  { known, log }: ContentCheckOptions,
): string | undefined {
  if (isLogMessage(message))
    return describeProposedProblem(log.getProposedRecords(message, from), known);
  if (message.kind === 'blue.operations')
    return describeOperationsProblem(message.operations, known);
  if (message.kind !== 'slot.answered' || message.decision?.kind !== 'record') return undefined;
  return describeVectorProblem(message.decision.vector);
}

/**
 * Finds an ordinal in a message that belongs to no known site. Records of the red log are not
 * checked here.
 */
function findUnknownOrigin(message: SiteMessage, origins: Origins): number | undefined {
  if (message.kind === 'blue.operations') {
    for (const { site } of message.operations) if (!origins.isSite(site)) return site;
  } else if (message.kind === 'blue.resend' || message.kind === 'blue.gone') {
    if (!origins.isSite(message.origin)) return message.origin;
  } else if (message.kind === 'slot.answered' && message.decision?.kind === 'claim') {
    if (!origins.isSite(message.decision.site)) return message.decision.site;
  }
  return undefined;
}

// These checks are loops, not array methods, because they run for every message.
function describeOperationsProblem(
  operations: readonly BlueOperation[],
  known: EffectChecker,
): string | undefined {
  for (const operation of operations) {
    const problem = describeBlueProblem(operation, known);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function describeProposedProblem(
  proposed: readonly ProposedRecord[],
  known: EffectChecker,
): string | undefined {
  for (const { origin, record } of proposed) {
    const problem = describeRecordProblem(record, origin, known);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function describeBlueProblem(
  { site, vector, shadow, effects, reply }: BlueOperation,
  known: EffectChecker,
): string | undefined {
  if ((vector[site] ?? 0) === 0) return 'an operation has no stamp of its own site';
  const problem = describeVectorProblem(vector) ?? describeEffectsProblem(effects, false, known);
  // Check the reply of a low watermark too: it determines which removals are forgotten.
  if (problem !== undefined || shadow !== '') return problem;
  return isVector(reply.value)
    ? describeVectorProblem(reply.value)
    : 'a low watermark has no vector';
}

function describeRecordProblem(
  record: RedRecord,
  proposer: Origin,
  known: EffectChecker,
): string | undefined {
  const named = getProposer(record);
  if (named !== proposer) return `a record of ordinal ${named} is proposed by ${proposer}`;
  if (record.kind === 'release') return describeStampProblem(record.stamp ?? 0);
  if (record.kind === 'opening') {
    for (const { operation } of record.holds) {
      const problem = describeRedProblem(operation, known);
      if (problem !== undefined) return problem;
    }
    return describeStampProblem(record.stamp);
  }
  const operation = record.kind === 'hold' ? record.operation : record;
  return operation.kind === 'operation' ? describeRedProblem(operation, known) : undefined;
}

function describeRedProblem(
  { clock, snapshot, effects, holds = [] }: RedOperation,
  known: EffectChecker,
): string | undefined {
  return (
    describeStampProblem(clock) ??
    describeStampProblem(Math.max(0, ...holds.map(([, stamp]) => stamp))) ??
    describeVectorProblem(snapshot) ??
    describeEffectsProblem(effects, true, known)
  );
}

/** Describes the problem of one of these effects. Returns `undefined` if there is none. */
export function describeEffectsProblem(
  effects: readonly Effect[],
  isRed: boolean,
  known: EffectChecker,
): string | undefined {
  for (const effect of effects) {
    const problem = known.describeProblem(effect, isRed);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isVector(value: unknown): value is Vector {
  return (
    Array.isArray(value) &&
    value.every((stamp: unknown) => Number.isSafeInteger(stamp) && (stamp as number) >= 0)
  );
}

function describeVectorProblem(vector: Vector): string | undefined {
  for (const stamp of vector) if (stamp > MAX_STAMP) return describeStampProblem(stamp);
  return undefined;
}

function describeStampProblem(stamp: number): string | undefined {
  return stamp > MAX_STAMP ? `no clock can have given the stamp ${stamp}` : undefined;
}
