/**
 * Inspects a data directory and its damage. It changes nothing and needs no lock, so it works even
 * if no server can start.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import {
  countEntry,
  pickPositions,
  type LogCounts,
  type LogPositions,
} from '../../log/log-positions.ts';
import { findSavedBytes } from '../memory/needed-memory.ts';
import type { Manifest } from '../storage/directory/manifest.ts';
import type { ReadableFiles } from '../storage/disk/files.ts';
import { readCheckpoint } from '../storage/format/checkpoint-file.ts';
import { formatFileName, getLogDirectory, parseFileNumbers } from '../storage/format/file-names.ts';
import { readLog, type LogDamage } from '../storage/format/log-file-reader.ts';
import { recoverSite, type RecoveredSite } from '../storage/recovery.ts';
import {
  describeFoundSite,
  getStoredSites,
  openToRead,
  rejectUnusable,
  type FoundSite,
} from './stored-directory.ts';

export interface InspectedLog {
  readonly file: string;
  readonly bytes: number;
  /** Where its entries begin in both logs; `null` if its first frame is unreadable. */
  readonly start: LogPositions | null;
  /** Entries that can be read, up to the first incomplete frame. */
  readonly entries: LogPositions;
  /** The part that is unreadable although it was on the disk once. */
  readonly damage: LogDamage | null;
}

export interface InspectedCheckpoint {
  readonly file: string;
  readonly bytes: number;
  /** Whole states in it. Each one replaces the one before. */
  readonly commits: number;
  /** The positions of the last one in the logs. */
  readonly contained: LogPositions | null;
  readonly damage: string | null;
}

export interface InspectedSite {
  readonly name: string;
  readonly checkpoints: readonly InspectedCheckpoint[];
  readonly logs: readonly InspectedLog[];
  /** Entries of both logs with which the site would start; `null` if it would not. */
  readonly lengths: LogPositions | null;
  /** Why it would not start. */
  readonly startError: string | null;
  /** About how many bytes of memory a start needs; `null` before the first checkpoint. */
  readonly memoryBytes: number | null;
  /** Damaged or missing files without a loss of data. */
  readonly damages: readonly string[];
}

export interface Inspection {
  readonly dataDir: string;
  readonly service: string;
  readonly sites: readonly InspectedSite[];
  /** Why the sites do not fit together, beside the problems of single sites. */
  readonly startError: string | null;
}

/**
 * Inspects a data directory as it is at one moment.
 *
 * @throws CorrectableError as `openToRead`
 */
export function inspectDataDirectory(dataDir: string): Inspection {
  const { files, manifest } = openToRead(dataDir);
  try {
    const inspected = getStoredSites(manifest).map((name) => inspectSite(files, name, manifest));
    const all = inspected.flatMap(({ found }) => found ?? []);
    const found = all.length === inspected.length ? all : undefined;
    return {
      dataDir,
      service: manifest.service.name,
      sites: inspected.map(({ site }) => site),
      startError: getRejection(() => rejectUnusable(files, dataDir, manifest, found)),
    };
  } finally {
    files.close();
  }
}

function inspectSite(
  files: ReadableFiles,
  name: string,
  manifest: Manifest,
): { readonly site: InspectedSite; readonly found: FoundSite | undefined } {
  const folder = getLogDirectory(name);
  const names = files.list(folder).toSorted();
  const logs = parseFileNumbers(names, 'log').map((number) => inspectLog(files, folder, number));
  const checkpoints = (['checkpoint', 'checkpoint-copy'] as const).flatMap((ending) =>
    parseFileNumbers(names, ending).map((number) =>
      inspectCheckpoint(files, `${folder}/${formatFileName(number, ending)}`, number),
    ),
  );
  let recovered: RecoveredSite | undefined;
  const rejection = getRejection(() => (recovered = recoverSite(files, folder, name)));
  const { lengths = null, damages = [], stored } = recovered ?? {};
  const memoryBytes = checkpoints.length === 0 ? null : Math.ceil(findSavedBytes(files, folder));
  return {
    site: { name, checkpoints, logs, lengths, startError: rejection, memoryBytes, damages },
    found: stored && describeFoundSite(stored, manifest),
  };
}

function inspectLog(files: ReadableFiles, folder: string, number: number): InspectedLog {
  const file = `${folder}/${formatFileName(number, 'log')}`;
  const bytes = files.read(file);
  const { header, entries, damage } = readLog(bytes, number);
  const counts: LogCounts = { local: 0, red: 0 };
  for (const { log } of entries) countEntry(counts, log);
  const start = header === undefined ? null : pickPositions(header);
  return {
    file,
    bytes: bytes.length,
    start,
    entries: counts,
    damage: damage ?? null,
  };
}

function inspectCheckpoint(
  files: ReadableFiles,
  file: string,
  number: number,
): InspectedCheckpoint {
  const bytes = files.read(file);
  const { commits, contained, damage } = readCheckpoint(bytes, number);
  return {
    file,
    bytes: bytes.length,
    commits,
    contained: contained ?? null,
    damage: damage ?? null,
  };
}

function getRejection(attempt: () => unknown): string | null {
  try {
    attempt();
    return null;
  } catch (error) {
    if (error instanceof CorrectableError) return error.message;
    throw error;
  }
}
