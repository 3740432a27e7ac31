/**
 * Recovers a site at its start: the last checkpoint and the entries after it, up to the first torn
 * frame. Every start writes into a new file, whose header has the end of the file before. So a
 * missing file is noticed.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import {
  getPartitionOf,
  getRedKind,
  type LogKind,
  type PartitionLogKind,
} from '../../log/local-log.ts';
import {
  getLogKinds,
  isAtMost,
  pickPositions,
  type LogCounts,
  type LogPositions,
} from '../../log/log-positions.ts';
import { toRedLogs, type RecoveredRedLog, type RecoveredState } from '../../log/recovered-state.ts';
import { readCheckpoint, type FoundCheckpoint } from './format/checkpoint-file.ts';
import type { ReadableFiles } from './disk/files.ts';
import { readLog, type LogDamage } from './format/log-file-reader.ts';
import {
  FORMAT_VERSION,
  describeFormat,
  formatCheckpointCopyName,
  formatCheckpointName,
  parseFileNumbers,
  formatSegmentName,
} from './format/file-names.ts';
import type { Segment, SegmentHeader } from './format/file-names.ts';

export interface RecoveredSite {
  readonly stored: RecoveredState;
  readonly lengths: LogPositions;
  /** From these positions on, the logs must exist. */
  readonly retainedFrom: LogPositions;
  /** Segments with entries. */
  readonly segments: readonly Segment[];
  /**
   * Files without needed content. They can be removed once there is a file with a larger number.
   */
  readonly uselessFiles: readonly string[];
  /**
   * The number and positions of the last checkpoint. It can be removed once there is another one.
   */
  readonly lastCheckpoint: SegmentHeader['checkpoint'];
  /** Damaged or missing files without a loss of data. */
  readonly damages: readonly string[];
  /** Whether the last checkpoint has only one complete copy. */
  readonly hasOneCopy: boolean;
  /** Numbers that no file of this site has had yet. */
  readonly nextSegment: number;
  readonly nextCheckpoint: number;
}

/** The entries by log. A log of a partition is there if it has any. */
interface LogEntries {
  local: unknown[];
  red: unknown[];
  [partition: PartitionLogKind]: unknown[];
}

interface Logs {
  readonly start: LogPositions;
  readonly entries: LogEntries;
  readonly segments: Segment[];
  /** Empty files, and files whose entries are not needed. */
  readonly useless: string[];
  /** The last checkpoint that the files name. */
  checkpoint: SegmentHeader['checkpoint'];
  /** The term of the last file's writer. */
  term: number;
}

interface LatestCheckpoint extends Partial<Omit<FoundCheckpoint, 'damage'>> {
  readonly number: number | undefined;
  /** The two copies of the file. */
  readonly copies: readonly FoundCopy[];
  readonly superseded: readonly string[];
  readonly damages: readonly string[];
}

interface FoundCopy {
  readonly number: number;
  readonly path: string;
  /** `undefined` if the file does not exist. */
  readonly content: FoundCheckpoint | undefined;
}

/**
 * Recovers a site from its directory. Without `site`, it may be any site's. Throws `UNAVAILABLE` if
 * something is missing.
 */
export function recoverSite(files: ReadableFiles, folder: string, site?: string): RecoveredSite {
  const names = files.list(folder);
  const segmentNumbers = parseFileNumbers(names, 'log');
  const latest = findLatestCheckpoint(files, folder, names);
  const logs = readSegments(files, folder, segmentNumbers, latest.retainedFrom, site);
  const { checkpoint, contained, number } = latest;
  const lengths: LogCounts = { local: 0, red: 0 };
  for (const log of getLogKinds(logs.start, logs.entries)) lengths[log] = getEnd(logs, log);
  checkContinuity(logs, lengths, latest);
  return {
    stored: {
      checkpoint,
      local: {
        start: logs.start.local,
        entries: logs.entries.local as RecoveredState['local']['entries'],
      },
      ...getRedLogs(logs),
    },
    lengths,
    retainedFrom: latest.retainedFrom ?? logs.start,
    segments: logs.segments,
    uselessFiles: [...latest.superseded, ...logs.useless],
    lastCheckpoint:
      number === undefined ? undefined : { file: number, ...(contained ?? logs.start) },
    damages: [...latest.damages, ...findLostCheckpoints(logs, latest)],
    hasOneCopy: latest.copies.some(
      ({ content }) => (content?.commits ?? 0) < (latest.commits ?? 0),
    ),
    nextSegment: (segmentNumbers.at(-1) ?? 0) + 1,
    nextCheckpoint:
      Math.max(getCheckpointNumbers(names).at(-1) ?? 0, logs.checkpoint?.file ?? 0) + 1,
  };
}

/** Returns the red log of `main`, and those of other partitions if any has entries. */
function getRedLogs({ start, entries }: Logs): Pick<RecoveredState, 'red' | 'partitions'> {
  const toLog = (kind: LogKind): RecoveredRedLog => ({
    start: start[kind] ?? 0,
    entries: (entries[kind] ?? []) as RecoveredRedLog['entries'],
  });
  const ordinals = getLogKinds(start, entries).map((kind) => getPartitionOf(kind) ?? 0);
  const last = Math.max(...ordinals);
  return toRedLogs(
    Array.from({ length: last + 1 }, (_, partition) => toLog(getRedKind(partition))),
  );
}

/** Returns the number of entries of a log, from its beginning. */
function getEnd({ start, entries }: Logs, log: LogKind): number {
  return (start[log] ?? 0) + (entries[log]?.length ?? 0);
}

export function getCheckpointNumbers(names: readonly string[]): number[] {
  const all = [
    ...parseFileNumbers(names, 'checkpoint'),
    ...parseFileNumbers(names, 'checkpoint-copy'),
  ];
  return [...new Set(all)].toSorted((a, b) => a - b);
}

/**
 * Returns the newest file with a commit. Newer files were not finished, and older ones were about
 * to be removed.
 */
function findLatestCheckpoint(
  files: ReadableFiles,
  folder: string,
  names: readonly string[],
): LatestCheckpoint {
  const found: FoundCopy[] = [];
  const damages: string[] = [];
  for (const number of getCheckpointNumbers(names).toReversed())
    for (const copy of readCopies(files, folder, names, number)) {
      const { path, content } = copy;
      found.push(copy);
      if (content?.damage !== undefined) damages.push(`${path}: ${content.damage}`);
    }
  const [best] = found
    .filter(({ content }) => content?.checkpoint !== undefined)
    .toSorted(
      (a, b) => b.number - a.number || (b.content?.commits ?? 0) - (a.content?.commits ?? 0),
    );
  const others = found.filter(
    ({ number, content }) => number !== best?.number && content !== undefined,
  );
  return {
    ...best?.content,
    number: best?.number,
    copies: found.filter(({ number }) => number === best?.number),
    superseded: others.map(({ path }) => path),
    damages,
  };
}

/**
 * Reads the two copies of a checkpoint. Equal bytes are decoded once, since that takes most of the
 * time of a start.
 */
function readCopies(
  files: ReadableFiles,
  folder: string,
  names: readonly string[],
  number: number,
): FoundCopy[] {
  let last: { readonly bytes: Uint8Array; readonly content: FoundCheckpoint } | undefined;
  const copies = [formatCheckpointName(number), formatCheckpointCopyName(number)];
  return copies.map((name) => {
    const path = `${folder}/${name}`;
    if (!names.includes(name)) return { number, path, content: undefined };
    const bytes = files.read(path);
    if (last === undefined || Buffer.compare(last.bytes, bytes) !== 0)
      last = { bytes, content: readCheckpoint(bytes, number) };
    return { number, path, content: last.content };
  });
}

/** Checks that checkpoint and logs make one state: all entries after the checkpoint must exist. */
function checkContinuity(logs: Logs, lengths: LogPositions, latest: LatestCheckpoint): void {
  const { checkpoint, contained, retainedFrom, damages } = latest;
  for (const log of getLogKinds(lengths, contained ?? {})) {
    if (checkpoint !== undefined && contained === undefined) continue;
    const from = contained?.[log] ?? 0;
    const start = logs.start[log] ?? 0;
    if (start > from) {
      const description =
        checkpoint === undefined
          ? 'there is no whole checkpoint'
          : `the checkpoint that is left ends at ${from}`;
      const reason = damages.length === 0 ? '' : ` (${damages.join('; ')})`;
      throw unreadableError(`the ${log} log begins at entry ${start}, and ${description}${reason}`);
    }
    if (retainedFrom !== undefined && start > (retainedFrom[log] ?? 0)) {
      const subject = `those from ${retainedFrom[log] ?? 0} on are kept for other sites`;
      throw unreadableError(`the ${log} log begins at entry ${start}, and ${subject}`);
    }
    const end = lengths[log] ?? 0;
    if (end < from) {
      throw unreadableError(
        `the ${log} log ends at entry ${end}, and the checkpoint was made at ${from}`,
      );
    }
  }
}

/**
 * Reports checkpoints that the logs name and that are missing or have only one copy. The logs or
 * the other copy are enough.
 */
function findLostCheckpoints(logs: Logs, { number = 0, copies }: LatestCheckpoint): string[] {
  const known = logs.checkpoint;
  // No log file was created after the checkpoint. But both its copies are written before it counts.
  if (known === undefined || known.file < number) {
    return copies.flatMap(({ path, content }) =>
      content === undefined ? [`${path} is gone`] : [],
    );
  }
  if (known.file > number)
    return [`the checkpoint in file ${known.file} is gone, or an older one is in its place`];
  return copies.flatMap(({ path, content }) => {
    if (content === undefined) return [`${path} is gone`];
    const { contained = known, damage } = content;
    const isWhole = damage !== undefined || isAtMost(known, contained);
    return isWhole ? [] : [`${path} lacks its last checkpoint`];
  });
}

function readSegments(
  files: ReadableFiles,
  folder: string,
  numbers: readonly number[],
  retainedFrom: LogPositions | undefined,
  site: string | undefined,
): Logs {
  let logs: Logs | undefined;
  const useless: string[] = [];
  let damaged: { readonly path: string; readonly damage: LogDamage } | undefined;
  for (const number of numbers) {
    const path = formatPath(folder, number);
    const { header, entries, damage } = readLog(files.read(path), number);
    if (header === undefined) {
      if (damage === undefined) useless.push(path);
      else damaged ??= { path, damage };
      continue;
    }
    checkHeader(header, path, site);
    const { term, checkpoint } = header;
    const positions = pickPositions(header);
    // The writer was deposed before, and was notified: none of its entries was acknowledged.
    if (term < (logs?.term ?? 0)) {
      useless.push(path);
      continue;
    }
    const segment: Segment = { number, ...positions };
    if (logs !== undefined && isRemnant(logs, segment, retainedFrom)) {
      useless.push(...logs.segments.map((earlier) => formatPath(folder, earlier.number)));
      logs = undefined;
    }
    logs ??= {
      start: positions,
      entries: { local: [], red: [] },
      segments: [],
      useless,
      checkpoint,
      term,
    };
    findJoinPosition(logs, segment, path);
    // What the earlier file has after its end did not count.
    damaged = damage && { path, damage };
    for (const { log, entry } of entries) (logs.entries[log] ??= []).push(entry);
    logs.segments.push(segment);
    logs.checkpoint = checkpoint ?? logs.checkpoint;
    logs.term = term;
  }
  if (damaged !== undefined) throw damageError(damaged.path, damaged.damage);
  const start = { local: 0, red: 0 };
  return (
    logs ?? {
      start,
      entries: { local: [], red: [] },
      segments: [],
      useless,
      checkpoint: undefined,
      term: 0,
    }
  );
}

/** Throws if the file has another format, or belongs to another site. */
function checkHeader(header: SegmentHeader, path: string, site: string | undefined): void {
  if (header.format !== FORMAT_VERSION)
    throw unreadableError(`${path} ${describeFormat(header.format)}`);
  if (site === undefined || header.site === undefined || header.site === site) return;

  const owner = `a file of site '${header.site}', and not of '${site}'`;
  throw unreadableError(`${path} is ${owner}: two directories were exchanged`);
}

function damageError(
  path: string,
  { position, frames, laterEntries }: LogDamage,
): CorrectableError {
  const red = getLogKinds(laterEntries)
    .slice(1)
    .map((log) => `${laterEntries[log] ?? 0} of the ${log} one`);
  const behind = [`${laterEntries.local} entries of the local log`, ...red].join(' and ');
  const lost = `${frames.lost} groups of entries cannot be read, and behind them ${behind} can`;
  return unreadableError(`${path} is damaged at byte ${position}: ${lost}`);
}

/**
 * Whether the entries remain from a removal that a crash interrupted. Then no entry before the next
 * file is needed.
 */
function isRemnant(logs: Logs, next: Segment, retained: LatestCheckpoint['retainedFrom']): boolean {
  if (retained === undefined || !isAtMost(next, retained)) return false;
  return getLogKinds(next).some((log) => countMissingBefore(logs, next, log) > 0);
}

/** Returns how many entries of a log are missing between what was read and the next file. */
function countMissingBefore(logs: Logs, next: Segment, log: LogKind): number {
  return (next[log] ?? 0) - getEnd(logs, log);
}

function formatPath(folder: string, number: number): string {
  return `${folder}/${formatSegmentName(number)}`;
}

/**
 * Returns where a file joins the entries before it, as of its creation. What the earlier file has
 * beyond that never counted.
 */
function findJoinPosition(logs: Logs, segment: Segment, path: string): void {
  for (const log of getLogKinds(segment, logs.entries)) {
    const begin = segment[log] ?? 0;
    if (countMissingBefore(logs, segment, log) > 0) {
      const missing = `entries ${getEnd(logs, log)} to ${begin - 1} of the ${log} log`;
      throw unreadableError(`${missing} are missing before ${path}`);
    }
    const entries = logs.entries[log];
    if (entries !== undefined) entries.length = begin - (logs.start[log] ?? 0);
  }
}

/** What to do if a site cannot go on from its data. Another site cannot send it its past yet. */
export const RESTORE_ADVICE =
  'Put back what is gone, or the whole data directory from one backup. ' +
  'Do not remove the directory of a single site: one that starts without its past contradicts the others for ever. ' +
  'Run `correctables inspect <dataDir>` to see what is there and what is lost';

function unreadableError(problem: string): CorrectableError {
  const message = `The data cannot be read: ${problem}. Nothing was changed. ${RESTORE_ADVICE}.`;
  return new CorrectableError('UNAVAILABLE', message, {
    retryable: false,
    field: 'dataDir',
  });
}
