/**
 * What a sealed site has that names entries of a red log. If the log goes on without some of them,
 * it has to go on above them: other logs, blue operations and sessions would wait for stamps that
 * no site has. And the rows of a global that has committed must be held until it is applied, as if
 * its holds were there.
 */
import {
  getRecoveredRed,
  getSavedLog,
  getSavedSite,
  type RecoveredState,
} from '../../log/recovered-state.ts';
import { getSavedRed, type SavedRedPath } from '../../service/records/checkpoint.ts';
import { getExecutionName, isGlobal } from '../../site/lane/global-records.ts';
import type { Origin } from '../../service/records/origin.ts';
import type {
  BlueOperation,
  ExecutionName,
  LocalEntry,
  LostHold,
  OpeningRecord,
  RedRecord,
} from '../../service/records/records.ts';
import { getStampOf, type Vector } from '../../service/records/vector.ts';

/** Asks a sealed site what names entries of a log. */
export const READ_NAMED = 'red.named';

/** The log that is asked about. */
export interface NamedLog {
  readonly partition: number;
}

/** The highest stamp that is named, and the holds that the site's copy lacks. */
export type NamedEntries = Pick<OpeningRecord, 'stamp' | 'holds'>;

/**
 * @param partition the ordinal of the partition of the log
 * @param log the origin of the log
 */
export function findNamedEntries(
  state: RecoveredState,
  partition: number,
  log: Origin,
): NamedEntries {
  const records = listUnappliedRecords(state);
  const stamps = [
    ...listVectors(state).map((vector) => getStampOf(vector, log)),
    ...records.map((record) => getNamedStamp(record, partition, log)),
  ];
  const holds = records.flatMap((record) => getNamedHold(record, partition) ?? []);
  const isHeld = createHoldFilter(state, partition);
  return {
    stamp: stamps.reduce((a, b) => Math.max(a, b), 0),
    holds: holds.filter((hold) => !isHeld(hold)),
  };
}

/**
 * Returns a function that finds out whether the site's own copy of a log has a hold. Then the log
 * has not lost it, since it goes on from the longest copy.
 */
function createHoldFilter(state: RecoveredState, partition: number): (hold: LostHold) => boolean {
  const { entries } = getRecoveredRed(state, partition);
  const names = new Set(
    entries.flatMap(({ record }) =>
      record.kind === 'hold' ? [getExecutionName(record.operation)] : [],
    ),
  );
  const saved = getSavedOrder(state, partition);
  const { lastStamp = 0 } = (saved?.certifier ?? {}) as {
    readonly lastStamp?: number;
  };
  return ({ operation, stamp }) => stamp <= lastStamp || names.has(getExecutionName(operation));
}

function getSavedOrder(
  { checkpoint }: RecoveredState,
  partition: number,
): SavedRedPath | undefined {
  const replica = checkpoint && getSavedSite(checkpoint).shared.replica;
  return replica && getSavedRed(replica, partition);
}

/** Combines what several sites have. */
export function mergeNamedEntries(entries: readonly NamedEntries[]): NamedEntries {
  const holds = new Map<ExecutionName, LostHold>(
    entries.flatMap((item) => item.holds).map((hold) => [getExecutionName(hold.operation), hold]),
  );
  const stamp = Math.max(0, ...entries.map((item) => item.stamp));
  return { stamp, holds: [...holds.values()] };
}

/**
 * Returns the records of all logs that the checkpoint does not have as applied. An applied one has
 * waited for all that it names.
 */
function listUnappliedRecords(state: RecoveredState): readonly RedRecord[] {
  const { partitions = [], checkpoint } = state;
  const shared = checkpoint && getSavedSite(checkpoint).shared;
  return [0, ...partitions.map((_, index) => index + 1)].flatMap((partition) => {
    const { start, entries } = getRecoveredRed(state, partition);
    const delivered = (shared && getSavedLog(shared, partition)?.delivered) ?? 0;
    const { gate = [] } = getSavedOrder(state, partition) ?? {};
    return [
      ...gate.map(({ record }) => record),
      ...entries.slice(Math.max(0, delivered - start)).map(({ record }) => record),
    ];
  });
}

/** Returns the vectors of all that a site shows or holds, without the red logs. */
function listVectors({ local, checkpoint }: RecoveredState): readonly Vector[] {
  const saved = checkpoint && getSavedSite(checkpoint);
  const { stable = [], unsent = [] } = saved?.shared.replica ?? {};
  const waiting = saved?.own.waiting.flat() ?? [];
  const toVector = ({ vector }: BlueOperation): Vector => vector;
  return [
    stable,
    ...[...unsent, ...waiting].map(toVector),
    ...local.entries.flatMap(getEntryVectors),
  ];
}

function getEntryVectors(entry: LocalEntry): readonly Vector[] {
  if (entry.kind === 'blue') return [entry.operation.vector];
  const isReply = entry.kind === 'slot' && entry.decision.kind === 'record';
  return isReply ? [entry.decision.vector] : [];
}

/** Returns the highest stamp of the log that a record names; 0 if it names none. */
function getNamedStamp(record: RedRecord, partition: number, log: Origin): number {
  switch (record.kind) {
    case 'operation': {
      const hold = getNamedHold(record, partition);
      return Math.max(getStampOf(record.snapshot, log), hold?.stamp ?? 0);
    }
    case 'hold':
      return getStampOf(record.operation.snapshot, log);
    case 'check':
      return getStampOf(record.snapshot, log);
    case 'release':
      return record.home === partition ? (record.stamp ?? 0) : 0;
    case 'opening':
    case 'abort':
    case 'close':
    case 'marker':
    case 'member':
    case 'activate':
      return 0;
  }
}

function getNamedHold(record: RedRecord, partition: number): LostHold | undefined {
  if (record.kind !== 'operation' || !isGlobal(record)) return undefined;
  const hold = record.holds?.find(([other]) => other === partition);
  return hold && { operation: record, stamp: hold[1] };
}
