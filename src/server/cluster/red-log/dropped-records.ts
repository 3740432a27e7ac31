/**
 * Saves the records that a returning site drops, because the red log was
 * restored at another site without them. An operator may want to repeat them.
 */
import { createAlarmRaiser, type OnAlarm } from '../../alarms/site-alarm.ts';
import type { RecoveredState } from '../../log/recovered-state.ts';
import type { RedRecord } from '../../records/records.ts';
import { encodeValue } from '../../storage/format/value-text.ts';
import type { FollowedLog } from './red-follower.ts';

const NOTES = {
  certain:
    'The red log was restored without these records. This site may have confirmed them. Look whether you repeat them.',
  uncertain:
    'The red log was restored more than once since this site had these records, so that it does not know which of them are still in the log. Look whether they are missing before you repeat them.',
} as const;

/**
 * Which kinds of records are saved. Reads and failures change nothing, so they
 * are not.
 */
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
};

export interface DroppedRecordsOptions {
  readonly site: string;
  readonly files: { replace(path: string, bytes: Uint8Array): void };
  readonly onAlarm: OnAlarm;
}

/**
 * Writes the records that are about to be dropped to a file, and raises an
 * alarm that names the file.
 */
export function saveDroppedRecords(
  { red }: RecoveredState,
  { generation, leader, base, copy }: FollowedLog,
  { site, files, onAlarm }: DroppedRecordsOptions,
): void {
  const isCertain = base !== undefined && base.copy === copy;
  const from = isCertain ? Math.max(0, base.length - red.start) : 0;
  const records = red.entries
    .slice(from)
    .map(({ record }) => record)
    .filter(({ kind }) => CHANGES_DATA[kind]);
  if (records.length === 0) return;

  const file = `dropped-red-records-${generation}.json`;
  const note = isCertain ? NOTES.certain : NOTES.uncertain;
  // Values of the application may be bytes, dates and bigints.
  const content: unknown = JSON.parse(encodeValue({ note, records }));
  files.replace(file, Buffer.from(`${JSON.stringify(content, null, 2)}\n`));
  const what = isCertain
    ? `${records.length} red records of this site are lost: generation ${generation} of the red log began at ${leader} without them`
    : `${records.length} red records of this site may be lost: the red log was restored without this site, and is at generation ${generation} now`;
  createAlarmRaiser(site, onAlarm)(
    'red-records-dropped',
    `${what}. It may have confirmed them to clients. They are in ${file} in its data directory: look whether they have to be done again.`,
  );
}
