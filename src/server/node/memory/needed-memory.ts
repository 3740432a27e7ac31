/**
 * How much memory the data of a site needs, found without loading it: a start that does not fit
 * has to fail with a number, and not with a full heap after a minute.
 */
import { check, CorrectableError } from '../../../correctable/errors.ts';
import type { SavedSiteState } from '../../log/recovered-state.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';
import {
  CHECKPOINT_BYTES,
  SEGMENT_BYTES,
  type DurableStorageOptions,
} from '../storage/durable-storage.ts';
import { formatFileName, parseFileNumbers, ROWS_FOLDER } from '../storage/format/file-names.ts';
import { getFrameLength, HEADER_BYTES, toBuffer } from '../storage/format/frames.ts';
import { unreadableError } from '../storage/recovery.ts';
import type { RowReader } from '../storage/rows/row-store.ts';
import { readCut, readSmallParts } from '../storage/rows/saved-state.ts';
import { formatMegabytes, getSiteMemoryBytes, suggestMemory } from './memory-size.ts';

// A start that fits must never be refused, so all of these are lower bounds.

/** How many bytes of memory a byte of a log takes while a start reads it. Small ones take more. */
const LOG_FACTOR = 2;
/** Entries that a start reads are gone when it is done, so they may take more than the site. */
export const START_SHARE = 1.25;
/** How much memory each site of a process may use. */
export interface SiteMemoryLimit {
  readonly maxBytes: number;
  /** How much of it rows may take that the store of rows has too. */
  readonly cacheBytes: number;
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

/** What a process may take, for all of its sites together. */
export interface ProcessMemory {
  /** Default: 75 % of the heap */
  readonly memoryBytes?: number | undefined;
  /** Default: a quarter of the memory, and at most 256 MiB for each site */
  readonly cacheBytes?: number | undefined;
}

const CACHE_SHARE = 1 / 4;
const MAX_CACHE_SHARE = 1 / 2;
/** A larger cache makes the pauses longer in which garbage is collected. */
const MAX_CACHE_BYTES = 256 * 2 ** 20;

/**
 * Shares the memory of a process among its sites, which have the same rows.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the cache would leave too little for the rest
 */
export function shareMemory(
  { memoryBytes = getSiteMemoryBytes(), cacheBytes }: ProcessMemory,
  siteCount = 1,
): SiteMemoryLimit {
  const maxBytes = Math.floor(memoryBytes / siteCount);
  const defaultCacheBytes = Math.min(MAX_CACHE_BYTES, CACHE_SHARE * maxBytes);
  const ownCacheBytes = Math.floor(
    cacheBytes === undefined ? defaultCacheBytes : cacheBytes / siteCount,
  );
  const mostBytes = Math.floor(MAX_CACHE_SHARE * memoryBytes);
  const problem = `must be at most half of what the sites may use, ${mostBytes} bytes: lower it (--cache), or give more memory (--memory)`;
  check(ownCacheBytes * siteCount <= mostBytes, 'cacheBytes', problem);
  return { maxBytes, cacheBytes: ownCacheBytes, siteCount };
}

/** What a site is read from at its start. */
export interface StoredSite {
  readonly files: ReadableFiles;
  /** The directory of the site, relative to `files`. */
  readonly directory: string;
  readonly rows: RowReader;
}

/**
 * Checks that the data of a site fits into its memory.
 *
 * @throws CorrectableError `UNAVAILABLE` with the memory that it needs.
 */
export function checkNeededMemory(stored: StoredSite, site: string, limit: SiteMemoryLimit): void {
  const needed = measureNeededMemory(stored);
  if (needed <= START_SHARE * limit.maxBytes) return;
  const { option, heap } = suggestMemory(needed * limit.siteCount);
  const sizes = `its data needs about ${formatMegabytes(needed)} of memory, and it may use ${formatMegabytes(limit.maxBytes)}`;
  const advice = `Start it with --memory ${option}, or in a program with a larger heap (node --max-old-space-size=${heap}) and no smaller memoryBytes`;
  const message = `Site ${site} cannot start: ${sizes}. Nothing was changed. ${advice}.`;
  throw new CorrectableError('UNAVAILABLE', message, { retryable: false, field: 'memoryBytes' });
}

/**
 * Returns how many bytes of memory a site needs at least until it has read its data.
 *
 * @throws CorrectableError `UNAVAILABLE` if the last commit is damaged
 */
export function measureNeededMemory({ files, directory, rows }: StoredSite): number {
  let savedBytes: number;
  try {
    savedBytes = findSavedBytes(rows);
  } catch (error) {
    throw unreadableError(`${directory}/${ROWS_FOLDER}: ${(error as Error).message}`);
  }
  return savedBytes + LOG_FACTOR * measureLogs(files, directory);
}

/**
 * Returns the memory that the site had counted at its last checkpoint, without rows that can leave
 * memory.
 */
export function findSavedBytes(rows: RowReader): number {
  if (readCut(rows) === undefined) return 0;
  const { own } = readSmallParts(rows) as SavedSiteState;
  return own.memoryBytes ?? 0;
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
