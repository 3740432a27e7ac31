/**
 * Recovers a site at its start: the last commit to its store of rows, and the entries of the logs
 * after it, up to the first torn frame. Every start writes into a new file, whose header has the
 * end of the file before. So a missing file is noticed.
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
import type { Checkpoint, SavedSection } from '../../service/records/checkpoint.ts';
import type { ReadableFiles } from './disk/files.ts';
import { readLog, type LogDamage } from './format/log-file-reader.ts';
import {
  FORMAT_VERSION,
  describeFormat,
  parseFileNumbers,
  formatSegmentName,
} from './format/file-names.ts';
import { ROWS_FOLDER, type Segment, type SegmentHeader } from './format/file-names.ts';
import type { RowReader } from './rows/row-store.ts';
import {
  getStoredSection,
  NO_ROWS,
  readCut,
  readSection,
  readSmallParts,
  ROWS_FORMAT,
  type SavedCut,
} from './rows/saved-state.ts';

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
  /** The number and positions of the last commit. */
  readonly lastCheckpoint: SegmentHeader['checkpoint'];
  /** What is missing without a loss of data. */
  readonly damages: readonly string[];
  /** A number that no file of this site has had yet. */
  readonly nextSegment: number;
  /** No commit of this site has had a larger number. 0 before the first one. */
  readonly lastCommit: number;
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
  /** The last commit that the files name. */
  checkpoint: SegmentHeader['checkpoint'];
  /** The term of the last file's writer. */
  term: number;
}

/** What the last commit has. All is `undefined` if there was none. */
interface LastCommit {
  readonly cut: SavedCut | undefined;
  readonly checkpoint: Checkpoint | undefined;
  readonly rows: SavedSection;
}

/**
 * Recovers a site from its directory. Without `site`, it may be any site's. Throws `UNAVAILABLE` if
 * something is missing.
 *
 * @param reader shows the last commit to the store of rows, as long as the rows are read
 */
export function recoverSite(
  files: ReadableFiles,
  reader: RowReader,
  folder: string,
  site?: string,
): RecoveredSite {
  const names = files.list(folder);
  const segmentNumbers = parseFileNumbers(names, 'log');
  const { cut, checkpoint, rows } = readLastCommit(reader, folder);
  const logs = readSegments(files, folder, segmentNumbers, cut?.retainedFrom, site);
  const lengths = getLengths(logs);
  checkContinuity(logs, lengths, cut);
  const { number = 0, contained } = cut ?? {};
  const lastCommit = Math.max(number, logs.checkpoint?.file ?? 0);
  return {
    stored: {
      checkpoint,
      rows,
      local: {
        start: logs.start.local,
        entries: logs.entries.local as RecoveredState['local']['entries'],
      },
      ...getRedLogs(logs),
    },
    lengths,
    retainedFrom: cut?.retainedFrom ?? logs.start,
    segments: logs.segments,
    uselessFiles: logs.useless,
    lastCheckpoint: contained && { file: number, ...contained },
    damages: lastCommit > number ? [describeLostCommit(folder, lastCommit, number)] : [],
    nextSegment: (segmentNumbers.at(-1) ?? 0) + 1,
    lastCommit,
  };
}

/**
 * Checks that the logs go on from a commit that is about to be made of a checkpoint file. Returns
 * the last commit that the log files name.
 *
 * @param cut `undefined` if no checkpoint is left
 * @param damages of checkpoint files
 * @throws CorrectableError `UNAVAILABLE` if entries after it are missing
 */
export function checkLogs(
  { files, folder, site }: { files: ReadableFiles; folder: string; site?: string | undefined },
  cut: Pick<SavedCut, 'contained' | 'retainedFrom'> | undefined,
  damages: readonly string[],
): SegmentHeader['checkpoint'] {
  const numbers = parseFileNumbers(files.list(folder), 'log');
  const logs = readSegments(files, folder, numbers, cut?.retainedFrom, site);
  checkContinuity(logs, getLengths(logs), cut, damages);
  return logs.checkpoint;
}

/** Throws if what the last commit has cannot be read. */
function readLastCommit(reader: RowReader, folder: string): LastCommit {
  try {
    const cut = readCut(reader);
    if (cut === undefined) return { cut, checkpoint: undefined, rows: NO_ROWS };
    const { format, listed } = cut;
    if (format !== ROWS_FORMAT) throw new Error(`the store has format ${format}`);
    const names = Object.keys(listed);
    const sections = Object.fromEntries(
      names.map((name) => [name, readSection(reader, name, cut)]),
    );
    return {
      cut,
      checkpoint: { sections, smallParts: readSmallParts(reader) },
      rows: getStoredSection(reader, cut),
    };
  } catch (error) {
    throw unreadableError(`${folder}/${ROWS_FOLDER}: ${(error as Error).message}`);
  }
}

/** The logs are enough. So nothing is lost. */
function describeLostCommit(folder: string, number: number, found: number): string {
  const has = found === 0 ? 'has none' : `ends with commit ${found}`;
  return `commit ${number} is gone: ${folder}/${ROWS_FOLDER} ${has}`;
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

function getLengths(logs: Logs): LogPositions {
  const lengths: LogCounts = { local: 0, red: 0 };
  for (const log of getLogKinds(logs.start, logs.entries)) lengths[log] = getEnd(logs, log);
  return lengths;
}

/** Checks that the last commit and the logs make one state: all entries after it must exist. */
function checkContinuity(
  logs: Logs,
  lengths: LogPositions,
  cut: Pick<SavedCut, 'contained' | 'retainedFrom'> | undefined,
  damages: readonly string[] = [],
): void {
  const { contained, retainedFrom } = cut ?? {};
  for (const log of getLogKinds(lengths, contained ?? {})) {
    const from = contained?.[log] ?? 0;
    const start = logs.start[log] ?? 0;
    if (start > from) {
      const description =
        cut === undefined ? 'there are no rows' : `the rows are those at entry ${from}`;
      const reason = damages.length === 0 ? '' : ` (${damages.join('; ')})`;
      throw unreadableError(`the ${log} log begins at entry ${start}, and ${description}${reason}`);
    }
    if (retainedFrom !== undefined && start > (retainedFrom[log] ?? 0)) {
      const subject = `those from ${retainedFrom[log] ?? 0} on are kept for other sites`;
      throw unreadableError(`the ${log} log begins at entry ${start}, and ${subject}`);
    }
    const end = lengths[log] ?? 0;
    if (end < from)
      throw unreadableError(
        `the ${log} log ends at entry ${end}, and the rows are those at ${from}`,
      );
  }
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
function isRemnant(logs: Logs, next: Segment, retained: LogPositions | undefined): boolean {
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

export function unreadableError(problem: string): CorrectableError {
  const message = `The data cannot be read: ${problem}. Nothing was changed. ${RESTORE_ADVICE}.`;
  return new CorrectableError('UNAVAILABLE', message, {
    retryable: false,
    field: 'dataDir',
  });
}
