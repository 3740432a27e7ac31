/**
 * How much memory the data of a site needs, found without loading it: a start that does not fit
 * has to fail with a number, and not with a full heap after a minute.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { SavedSiteState } from '../../log/recovered-state.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';
import {
  CHECKPOINT_BYTES,
  SEGMENT_BYTES,
  type DurableStorageOptions,
} from '../storage/durable-storage.ts';
import { formatFileName, getLogDirectory, parseFileNumbers } from '../storage/format/file-names.ts';
import { getFrameLength, HEADER_BYTES, toBuffer } from '../storage/format/frames.ts';
import { decodeValue } from '../storage/format/value-text.ts';
import { formatMegabytes, getSiteMemoryBytes, suggestMemory } from './memory-size.ts';

// A start that fits must never be refused, so all of these are lower bounds.

/** How many bytes of memory a byte of a log takes while a start reads it. Small ones take more. */
const LOG_FACTOR = 2;
/** The same for a row of a checkpoint that does not have the count of its site. */
const ROW_BYTES = 400;
const ROW_START = Buffer.from('["rows","');
/** A file may have each row three times before it is written again. */
const REWRITE_FACTOR = 3;
/** Entries that a start reads are gone when it is done, so they may take more than the site. */
export const START_SHARE = 1.25;
/** The end of a frame with a commit. Frames with rows alone end with an array. */
const COMMIT_END = Buffer.from('}}');

/** How much memory each site of a process may use. */
export interface SiteMemoryLimit {
  readonly maxBytes: number;
  /** The number of sites that share the memory of the process. */
  readonly siteCount: number;
}

/** The share of a site's memory that its log files may have beyond a checkpoint. */
const LOG_SHARE = 1 / 128;
const MIN_LOG_BYTES = 2 ** 20;

/**
 * Returns the sizes of log files for a site with this much memory, if they have to be smaller than
 * usual: a start reads all entries since the last checkpoint at once.
 */
export function limitFiles(
  limit: SiteMemoryLimit | undefined,
): Pick<DurableStorageOptions, 'segmentBytes' | 'checkpointBytes'> {
  const bytes = Math.max(MIN_LOG_BYTES, Math.floor(LOG_SHARE * (limit?.maxBytes ?? Infinity)));
  return {
    segmentBytes: Math.min(bytes, SEGMENT_BYTES),
    checkpointBytes: Math.min(bytes, CHECKPOINT_BYTES),
  };
}

/** Shares the memory of a process among its sites, which have the same rows. */
export function shareMemory(
  memoryBytes: number = getSiteMemoryBytes(),
  siteCount = 1,
): SiteMemoryLimit {
  return { maxBytes: Math.floor(memoryBytes / siteCount), siteCount };
}

/**
 * Checks that the data of a site fits into its memory.
 *
 * @throws CorrectableError `UNAVAILABLE` with the memory that it needs.
 */
export function checkNeededMemory(
  files: ReadableFiles,
  site: string,
  limit: SiteMemoryLimit,
): void {
  const needed = measureNeededMemory(files, site);
  if (needed <= START_SHARE * limit.maxBytes) return;
  const { option, heap } = suggestMemory(needed * limit.siteCount);
  const sizes = `its data needs about ${formatMegabytes(needed)} of memory, and it may use ${formatMegabytes(limit.maxBytes)}`;
  const advice = `Start it with --memory ${option}, or in a program with a larger heap (node --max-old-space-size=${heap}) and no smaller memoryBytes`;
  const message = `Site ${site} cannot start: ${sizes}. Nothing was changed. ${advice}.`;
  throw new CorrectableError('UNAVAILABLE', message, { retryable: false, field: 'memoryBytes' });
}

/** Returns how many bytes of memory a site needs at least until it has read its data. */
export function measureNeededMemory(files: ReadableFiles, site: string): number {
  const folder = getLogDirectory(site);
  return findSavedBytes(files, folder) + LOG_FACTOR * measureLogs(files, folder);
}

/** Returns the memory that the site had counted at its last checkpoint, or an estimate of it. */
export function findSavedBytes(files: ReadableFiles, folder: string): number {
  const names = files.list(folder);
  for (const ending of ['checkpoint', 'checkpoint-copy'] as const)
    for (const number of parseFileNumbers(names, ending).toReversed()) {
      const path = `${folder}/${formatFileName(number, ending)}`;
      const commit = findLastCommit(files, path);
      // Without a commit the file was not finished, and an older one counts.
      if (commit !== undefined) return getSavedBytes(commit) ?? estimateBytes(files, path);
    }
  return 0;
}

/** Returns the frame of the last commit. Whether it is whole is checked when it is loaded. */
function findLastCommit(files: ReadableFiles, path: string): Buffer | undefined {
  let found: { readonly position: number; readonly length: number } | undefined;
  let head = toBuffer(files.readPart(path, 0, HEADER_BYTES));
  for (let position = 0; head.length === HEADER_BYTES;) {
    const length = getFrameLength(head);
    if (length === HEADER_BYTES) break;
    const end = position + length;
    // The end of this frame, and the head of the next one.
    const part = toBuffer(
      files.readPart(path, end - COMMIT_END.length, COMMIT_END.length + HEADER_BYTES),
    );
    if (part.subarray(0, COMMIT_END.length).equals(COMMIT_END)) found = { position, length };
    head = part.subarray(COMMIT_END.length);
    position = end;
  }
  if (found === undefined) return undefined;
  return toBuffer(files.readPart(path, found.position + HEADER_BYTES, found.length - HEADER_BYTES));
}

function getSavedBytes(commit: Buffer): number | undefined {
  try {
    const { smallParts } = decodeValue(commit.toString()) as {
      readonly smallParts: SavedSiteState;
    };
    return smallParts.own.memoryBytes;
  } catch {
    // The start reports the damage.
    return undefined;
  }
}

/** Estimates the memory for a file of an older version, or of another site. */
function estimateBytes(files: ReadableFiles, path: string): number {
  const bytes = toBuffer(files.read(path));
  let rows = 0;
  for (let at = bytes.indexOf(ROW_START); at >= 0; at = bytes.indexOf(ROW_START, at + 1)) rows += 1;
  return (rows * ROW_BYTES + bytes.length) / REWRITE_FACTOR;
}

/** Returns the bytes of entries in log files, which are longer than what was written. */
function measureLogs(files: ReadableFiles, folder: string): number {
  let sum = 0;
  for (const number of parseFileNumbers(files.list(folder), 'log')) {
    const bytes = toBuffer(files.read(`${folder}/${formatFileName(number, 'log')}`));
    let position = 0;
    while (position + HEADER_BYTES <= bytes.length) {
      const length = getFrameLength(bytes.subarray(position, position + HEADER_BYTES));
      if (length === HEADER_BYTES) break;
      position += length;
    }
    sum += Math.min(position, bytes.length);
  }
  return sum;
}
