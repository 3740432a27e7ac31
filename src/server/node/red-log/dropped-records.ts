/**
 * Saves the records that a returning site drops, because the red log was restored at another site
 * without them. An operator may want to repeat them.
 */
import { createAlarmRaiser, type OnAlarm } from '../alarms/site-alarm.ts';
import {
  countDelivered,
  getRecoveredRed,
  type KeptRed,
  type RecoveredRedLog,
  type RecoveredState,
} from '../../log/recovered-state.ts';
import type { RedRecord } from '../../service/records/records.ts';
import { encodeValue } from '../storage/format/value-text.ts';
import { countShared, type LogCopy } from './log-copy.ts';
import { toSiteCopies, type FollowedLog } from './red-follower.ts';
import { getLogs } from './red-generation.ts';

const NOTES = {
  certain:
    'The red log was restored without these records. This site may have confirmed them. Look whether you repeat them.',
  uncertain:
    'The red log was restored more than once since this site had these records, so that it does not know which of them are still in the log. Look whether they are missing before you repeat them.',
} as const;

/** Which kinds of records are saved. Reads and failures change nothing, so they are not. */
const CHANGES_DATA: Readonly<Record<RedRecord['kind'], boolean>> = {
  operation: true,
  close: false,
  marker: false,
  check: false,
  member: true,
  activate: true,
  hold: false,
  release: true,
  abort: false,
  opening: false,
};

export interface DroppedRecordsOptions {
  readonly site: string;
  readonly files: { replace(path: string, bytes: Uint8Array): void };
  readonly onAlarm: OnAlarm;
}

/** A copy of a log, and what the generation of the log begins with. */
interface FollowedCopy {
  readonly partition: number;
  readonly copy: LogCopy;
  readonly base: LogCopy | undefined;
}

/**
 * Compares the copies of a site with the logs of the generation that it follows, by the ordinals of
 * the partitions.
 */
function compareCopies(state: RecoveredState, to: FollowedLog): readonly FollowedCopy[] {
  const logs = getLogs(to);
  const lengths = logs.map((_, partition) => {
    const { start, entries } = getRecoveredRed(state, partition);
    return start + entries.length;
  });
  return toSiteCopies(to, lengths).map((copy, partition) => {
    const base = logs[partition]?.base;
    return { partition, copy, base };
  });
}

/**
 * Returns what a site keeps of its copies, by the ordinals of the partitions: what they share with
 * the logs that it follows. It may be the only site with the end of that.
 */
export function findKept(state: RecoveredState, to: FollowedLog): readonly KeptRed[] {
  const logs = getLogs(to);
  return compareCopies(state, to).map(({ copy, base, partition }) => {
    const shared = base && countShared(copy, base);
    // The opening may be of an earlier generation, which this site has missed. It has delivered
    // only what was confirmed.
    const hasLost = shared !== undefined && countDelivered(state, partition) > shared;
    return {
      length: shared ?? 0,
      isLossy: hasLost || logs[partition]?.opening !== undefined,
    };
  });
}

/**
 * Writes the records that are about to be dropped to a file, and raises an alarm that names the
 * file.
 */
export function saveDroppedRecords(
  state: RecoveredState,
  to: FollowedLog,
  { site, files, onAlarm }: DroppedRecordsOptions,
): void {
  const { generation } = to;
  const dropped = compareCopies(state, to).map((followed) => ({
    ...findDropped(getRecoveredRed(state, followed.partition), followed),
    leader: getLogs(to)[followed.partition]?.leader,
  }));
  const losing = dropped.filter(({ records }) => records.length > 0);
  const records = losing.flatMap((log) => log.records);
  if (records.length === 0) return;

  const isCertain = losing.every((log) => log.isCertain);
  const file = `dropped-red-records-${generation}.json`;
  const note = isCertain ? NOTES.certain : NOTES.uncertain;
  // Values of the application may be bytes, dates and bigints.
  const content: unknown = JSON.parse(encodeValue({ note, records }));
  files.replace(file, Buffer.from(`${JSON.stringify(content, null, 2)}\n`));
  const leaders = [...new Set(losing.map(({ leader }) => leader))].join(', ');
  const what = isCertain
    ? `${records.length} red records of this site are lost: generation ${generation} of the red log began at ${leaders} without them`
    : `${records.length} red records of this site may be lost: the red log was restored without this site, and is at generation ${generation} now`;
  createAlarmRaiser(site, onAlarm)(
    'red-records-dropped',
    `${what}. It may have confirmed them to clients. They are in ${file} in its data directory: look whether they have to be done again.`,
  );
}

/**
 * Returns the records of a copy that the log may lack. It is certain that it lacks them if the copy
 * is of a generation from which the log went on.
 */
function findDropped(
  { start, entries }: RecoveredRedLog,
  { copy, base }: FollowedCopy,
): { readonly isCertain: boolean; readonly records: readonly RedRecord[] } {
  const shared = base && countShared(copy, base);
  const from = shared === undefined ? 0 : Math.max(0, shared - start);
  const records = entries
    .slice(from)
    .map(({ record }) => record)
    .filter(({ kind }) => CHANGES_DATA[kind]);
  return { isCertain: shared !== undefined, records };
}
