/**
 * What a message of another site says, held to what can be: effects that this service has, stamps that a clock can have
 * given. Its shape is right by then; taken all the same, it would end the site that applies it, or every site, where it is
 * a record of the red log.
 */
import { STAMP_MAX } from '../records/clock.ts';
import type { Effect } from '../records/effect.ts';
import type { Origin } from '../records/origin.ts';
import type { BlueOperation, RedRecord } from '../records/records.ts';
import type { Vector } from '../records/vector.ts';
import { isLogMessage } from '../log/log.ts';
import type { LogMessages, Proposed } from '../log/red-log-engine.ts';
import type { SiteMessage } from './envelope.ts';

/** Which effects the service has that the sites run. */
interface KnownEffects {
  /** What is wrong with an effect, in words; `undefined` where nothing is. */
  problemOf(effect: Effect, isRed: boolean): string | undefined;
}

/** What a message is held to, and what looks into those of the red log. */
interface What {
  readonly known: KnownEffects;
  readonly log: LogMessages;
}

/** What is wrong with a message from a site, in words; `undefined` where nothing is. */
export function contentProblem(message: SiteMessage, from: Origin, { known, log }: What): string | undefined {
  if (isLogMessage(message)) return proposedProblem(log.proposedIn(message, from), known);
  switch (message.kind) {
    case 'blue.operations':
      return operationsProblem(message.operations, known);
    case 'slot.told':
      return message.decision?.kind === 'record' ? vectorProblem(message.decision.vector) : undefined;
    case 'blue.received':
    case 'blue.heartbeat':
    case 'blue.have':
    case 'blue.resend':
    case 'slot.ask':
    case 'rights.ask':
      return undefined;
  }
}

// Loops, since this is done for every message.
function operationsProblem(operations: readonly BlueOperation[], known: KnownEffects): string | undefined {
  for (const operation of operations) {
    const problem = blueProblem(operation, known);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function proposedProblem(proposed: readonly Proposed[], known: KnownEffects): string | undefined {
  for (const { origin, record } of proposed) {
    const problem = recordProblem(record, origin, known);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function blueProblem({ site, vector, shadow, effects, reply }: BlueOperation, known: KnownEffects): string | undefined {
  if ((vector[site] ?? 0) === 0) return 'an operation has no stamp of its own site';
  const problem = vectorProblem(vector) ?? effectsProblem(effects, false, known);
  // Of a floor the reply says what removals may be forgotten.
  if (problem !== undefined || shadow !== '') return problem;
  return isVector(reply.value) ? vectorProblem(reply.value) : 'a floor has no vector';
}

function recordProblem(record: RedRecord, proposer: Origin, known: KnownEffects): string | undefined {
  if (record.site !== proposer) return `a record of ordinal ${record.site} is proposed by ${proposer}`;
  if (record.kind !== 'operation') return undefined;
  const { clock, snapshot, effects } = record;
  return stampProblem(clock) ?? vectorProblem(snapshot) ?? effectsProblem(effects, true, known);
}

function effectsProblem(effects: readonly Effect[], isRed: boolean, known: KnownEffects): string | undefined {
  for (const effect of effects) {
    const problem = known.problemOf(effect, isRed);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isVector(value: unknown): value is Vector {
  return Array.isArray(value) && value.every((stamp: unknown) => Number.isSafeInteger(stamp) && (stamp as number) >= 0);
}

function vectorProblem(vector: Vector): string | undefined {
  for (const stamp of vector) if (stamp > STAMP_MAX) return stampProblem(stamp);
  return undefined;
}

function stampProblem(stamp: number): string | undefined {
  return stamp > STAMP_MAX ? `no clock can have given the stamp ${stamp}` : undefined;
}
