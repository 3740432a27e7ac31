/**
 * What a site finds in its folder when it starts: the last checkpoint and the entries after it, up to the first frame
 * that is not whole.
 *
 * Every start writes into a new file. So a torn end is never written over, and a file's header says where the one
 * before it ended: what is missing between two files was on the disk once and is gone, which is no torn end.
 */
import { CorrectableError } from '../../correctable/errors.ts';
import type { Checkpoint } from '../redblue/checkpoint.ts';
import type { StoredSite } from '../redblue/site-machine.ts';
import { readCheckpoint } from './checkpoint-file.ts';
import type { Files } from './files.ts';
import { decodeFrames } from './frames.ts';
import { checkpointName, FORMAT, numbersOf, segmentName } from './names.ts';
import type { SegmentHeader } from './names.ts';
import { unpack } from './packed-entries.ts';
import type { Segment } from './segment-log.ts';

/** What there was, and where to go on. */
export interface Recovered {
  readonly stored: StoredSite;
  readonly lengths: { readonly local: number; readonly red: number };
  /** Segments with entries in them. */
  readonly segments: readonly Segment[];
  /** Files with nothing in them that counts: of no use once there is one with a larger number. */
  readonly useless: readonly string[];
  /** Number of the file with the checkpoint: of no use once there is another one. */
  readonly checkpointFile: number | undefined;
  /** Numbers that no file of this site has had yet. */
  readonly nextSegment: number;
  readonly nextCheckpoint: number;
}

interface Logs {
  readonly start: { readonly local: number; readonly red: number };
  readonly local: unknown[];
  readonly red: unknown[];
  readonly segments: Segment[];
  readonly empty: string[];
}

interface LatestCheckpoint {
  readonly checkpoint: Checkpoint | undefined;
  readonly checkpointFile: number | undefined;
  readonly superseded: readonly string[];
}

/**
 * Reads the folder of a site.
 *
 * @throws CorrectableError `UNAVAILABLE` when entries are missing that were on the disk once.
 */
export function recover(files: Files, folder: string): Recovered {
  const names = files.list(folder);
  const segmentNumbers = numbersOf(names, 'log');
  const checkpointNumbers = numbersOf(names, 'checkpoint');
  const { checkpoint, checkpointFile, superseded } = latestCheckpoint(files, folder, checkpointNumbers);
  const logs = readSegments(files, folder, segmentNumbers);
  const lengths = { local: logs.start.local + logs.local.length, red: logs.start.red + logs.red.length };
  return {
    stored: {
      checkpoint,
      local: { start: logs.start.local, entries: logs.local as StoredSite['local']['entries'] },
      red: { start: logs.start.red, entries: logs.red as StoredSite['red']['entries'] },
    },
    lengths,
    segments: logs.segments,
    useless: [...superseded, ...logs.empty],
    checkpointFile,
    nextSegment: (segmentNumbers.at(-1) ?? 0) + 1,
    nextCheckpoint: (checkpointNumbers.at(-1) ?? 0) + 1,
  };
}

/** The newest file with a commit in it. Newer ones were not finished; older ones were about to be removed. */
function latestCheckpoint(files: Files, folder: string, numbers: readonly number[]): LatestCheckpoint {
  const pathOf = (number: number): string => `${folder}/${checkpointName(number)}`;
  for (const number of numbers.toReversed()) {
    const checkpoint = readCheckpoint(files.read(pathOf(number)), number);
    if (checkpoint === undefined) continue;
    return { checkpoint, checkpointFile: number, superseded: numbers.filter((each) => each !== number).map(pathOf) };
  }
  return { checkpoint: undefined, checkpointFile: undefined, superseded: numbers.map(pathOf) };
}

function readSegments(files: Files, folder: string, numbers: readonly number[]): Logs {
  let logs: Logs | undefined;
  const empty: string[] = [];
  for (const number of numbers) {
    const path = `${folder}/${segmentName(number)}`;
    const frames = decodeFrames(files.read(path), number);
    const header = frames.next();
    if (header.done === true) {
      empty.push(path);
      continue;
    }
    const { format, local, red } = JSON.parse(header.value.toString()) as SegmentHeader;
    if (format !== FORMAT) throw unreadable(`${path} has format ${format}; this version reads ${FORMAT}`);
    const segment = { number, local, red };
    logs ??= { start: { local, red }, local: [], red: [], segments: [], empty };
    joinAt(logs, segment, path);
    for (const payload of frames) for (const { log, entry } of unpack(payload)) logs[log].push(entry);
    logs.segments.push(segment);
  }
  return logs ?? { start: { local: 0, red: 0 }, local: [], red: [], segments: [], empty };
}

/** A file begins where the entries before it ended when it was made: what the earlier file has beyond that never counted. */
function joinAt(logs: Logs, segment: Segment, path: string): void {
  for (const log of ['local', 'red'] as const) {
    const length = segment[log] - logs.start[log];
    if (length > logs[log].length) {
      const missing = `entries ${logs.start[log] + logs[log].length} to ${segment[log] - 1} of the ${log} log`;
      throw unreadable(
        `${missing} are missing before ${path}. Restore the folder from a backup, or the site from scratch`,
      );
    }
    logs[log].length = length;
  }
}

function unreadable(problem: string): CorrectableError {
  return new CorrectableError('UNAVAILABLE', `The data cannot be read: ${problem}.`, { retryable: false });
}
