/**
 * Creates the directory of a site from a new state beside the old one, and replaces that by one
 * move.
 */
import { getPart, type Checkpoint } from '../../service/records/checkpoint.ts';
import type { Tables } from '../../service/tables.ts';
import { getRedKind } from '../../log/local-log.ts';
import { getLogKinds, type LogCounts, type LogPositions } from '../../log/log-positions.ts';
import {
  getRecoveredLog,
  getRedPositions,
  getSavedSite,
  type RecoveredState,
} from '../../log/recovered-state.ts';
import type { Files, Timing, ReadableFiles } from '../storage/disk/files.ts';
import {
  FORMAT_VERSION,
  formatSegmentName,
  ROWS_FOLDER,
  type SegmentHeader,
} from '../storage/format/file-names.ts';
import { encodeFrame } from '../storage/format/frames.ts';
import { importState, type ImportedRow } from '../storage/rows/import-state.ts';
import type { RowStore, RowStores } from '../storage/rows/row-store.ts';
import { SegmentLog } from '../storage/segment-log.ts';
import { INCOMING } from './incoming-file.ts';

/** Where the data of a site is written. */
export interface SiteLocation {
  readonly files: Files;
  readonly timing: Timing;
  /** The directory of the site, relative to `files`. */
  readonly directory: string;
  readonly site: string;
  /** The stores of rows, in folders relative to `files`. */
  readonly rows: RowStores;
  /** The tables of the service. */
  readonly tables: Tables;
}

export interface SiteInstallation extends SiteLocation {
  /** The new state, with the small parts, and the sections of which all rows are in memory. */
  readonly state: RecoveredState;
  /**
   * The rows of the shared sections. Without them, the site keeps all the rows that it has, and the
   * new state differs by its logs alone.
   */
  readonly sharedRows?: Iterable<ImportedRow> | undefined;
  /** A number that no log file of this site has had yet. */
  readonly nextSegment: number;
  /** The number of the commit of rows: a new one, or that of the rows that the site keeps. */
  readonly commit: number;
}

type Done = (error: Error | undefined) => void;

/** The directory that is being written. It does not count yet. */
const DRAFT = `${INCOMING}/site`;
/**
 * The received state with the new site. From the move to this path on, it replaces the old
 * directory.
 */
const ARRIVED = 'arrived';
const READY = `${ARRIVED}/site`;
const DRAFT_ROWS = `${DRAFT}/${ROWS_FOLDER}`;
const READY_ROWS = `${READY}/${ROWS_FOLDER}`;
const SEGMENT_BYTES = 1024 * 1024;

/**
 * Writes the directory and puts it in place. Until `done` is called without an error, the old one
 * counts.
 */
export function installSite(installation: SiteInstallation, done: Done): void {
  const { timing } = installation;
  const steps = [makeDraft, importRows, writeHeader, writeEntries, putInPlace];
  const next = (error: Error | undefined): void => {
    const step = steps.shift();
    if (error !== undefined || step === undefined) return timing.soon(() => done(error));
    try {
      step(installation, next);
    } catch (failure) {
      timing.soon(() => done(failure as Error));
    }
  };
  next(undefined);
}

/** As `installSite`. Resolves once the directory is in its final place. */
export function install(installation: SiteInstallation): Promise<void> {
  return new Promise((resolve, reject) => {
    installSite(installation, (error) => {
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}

/** Whether a state that replaces the directory of the site is not in its place yet. */
function isInstalling(files: ReadableFiles): boolean {
  return files.list(READY).length > 0;
}

/** Returns where the state of the site is, before the next start has put it in its place. */
export function locateSite(files: ReadableFiles, directory: string): string {
  return isInstalling(files) ? READY : directory;
}

/**
 * Returns where the rows of the site are, before the next start has put them in their place;
 * `undefined` if there are none.
 */
export function locateRows(files: ReadableFiles, directory: string): string | undefined {
  const site = locateSite(files, directory);
  // A new state without rows keeps those of the site.
  return [site, directory]
    .filter((folder) => files.list(folder).includes(ROWS_FOLDER))
    .map((folder) => `${folder}/${ROWS_FOLDER}`)[0];
}

/**
 * Ends an installation that a crash may have interrupted. Called at each start, before the
 * directory is read.
 */
export function finishInstallation(files: Files, directory: string): void {
  if (isInstalling(files)) {
    const rows = locateRows(files, directory);
    if (rows !== undefined && rows !== READY_ROWS) files.moveDirectory(rows, READY_ROWS);
    if (files.list(directory).length > 0) files.moveDirectory(directory, `${ARRIVED}/replaced`);
    files.moveDirectory(READY, directory);
  }
  files.removeNow(ARRIVED);
}

function makeDraft({ files, rows }: SiteInstallation, done: Done): void {
  // What an earlier attempt has left.
  rows.remove(DRAFT_ROWS, (error) => {
    if (error !== undefined) return done(error);
    attempt(done, () => {
      files.removeNow(DRAFT);
      files.makeDirectory(INCOMING);
      files.makeDirectory(DRAFT);
      done(undefined);
    });
  });
}

/** Calls back with what is thrown. */
function attempt(done: Done, run: () => void): void {
  try {
    run();
  } catch (error) {
    done(error as Error);
  }
}

function putInPlace({ files, directory }: SiteInstallation, done: Done): void {
  files.removeNow(ARRIVED);
  files.moveDirectory(INCOMING, ARRIVED);
  finishInstallation(files, directory);
  done(undefined);
}

/** Imports the rows into a new store, which is closed then: it cannot be moved while it is open. */
function importRows(installation: SiteInstallation, done: Done): void {
  const { rows, sharedRows } = installation;
  if (sharedRows === undefined) return done(undefined);
  rows.open(DRAFT_ROWS, (error, store) => {
    if (store === undefined) return done(error);
    const close = (failure: Error | undefined): void =>
      void store.close().then(
        () => done(failure),
        (closing: Error) => done(failure ?? closing),
      );
    attempt(close, () => importInto(store, sharedRows, installation, close));
  });
}

function importInto(
  store: RowStore,
  sharedRows: Iterable<ImportedRow>,
  { state, commit: number, timing, tables }: SiteInstallation,
  done: Done,
): void {
  const { sections, smallParts } = getCheckpoint(state);
  const rows = { [Symbol.iterator]: () => joinRows(sections, sharedRows) };
  const positions = { contained: getContained(state), retainedFrom: getStarts(state) };
  importState({ rows, smallParts, number, ...positions }, { store, timing, tables }, done);
}

/** Yields the rows of the sections in memory, and those of the other shared sections. */
function* joinRows(
  sections: Checkpoint['sections'],
  sharedRows: Iterable<ImportedRow>,
): Generator<ImportedRow, void, void> {
  for (const [section, rows] of Object.entries(sections))
    for (const [name, value] of rows) yield [section, name, value];
  for (const row of sharedRows) {
    const [section] = row;
    if (getPart(section) === 'shared' && !Object.hasOwn(sections, section)) yield row;
  }
}

/** Writes a log file without entries, which names where the logs begin. */
function writeHeader(
  { files, site, state, nextSegment, commit }: SiteInstallation,
  done: Done,
): void {
  const checkpoint = { file: commit, ...getContained(state) };
  const header: SegmentHeader = {
    format: FORMAT_VERSION,
    term: nextSegment,
    site,
    ...getStarts(state),
    checkpoint,
  };
  const frame = encodeFrame(JSON.stringify(header), {
    file: nextSegment,
    index: 0,
  });
  const file = files.createNow(`${DRAFT}/${formatSegmentName(nextSegment)}`, frame.length);
  file.write(frame, 0, (error) => {
    file.close();
    done(error);
  });
}

function writeEntries(
  { files, timing, site, state, nextSegment, commit }: SiteInstallation,
  done: Done,
): void {
  const kinds = getLogKinds(getStarts(state));
  const logs = kinds.map((kind) => [kind, getRecoveredLog(state, kind)] as const);
  if (logs.every(([, { entries }]) => entries.length === 0)) return done(undefined);
  let failure: Error | undefined;
  const onFailed = (error: Error | undefined): void => {
    failure ??= error;
  };
  const log = new SegmentLog({
    files,
    timing,
    directory: DRAFT,
    site,
    number: nextSegment + 1,
    lengths: getStarts(state),
    segments: [{ number: nextSegment, ...getStarts(state) }],
    segmentBytes: SEGMENT_BYTES,
    largeGroup: Infinity,
    lastCheckpoint: () => ({ file: commit, ...getContained(state) }),
    listener: { onSynced: () => {}, onFenced: onFailed, onFailed },
    onFullChanged: onFailed,
  });
  log.takeOver();
  for (const [kind, { entries }] of logs) log.append(kind, entries);
  log.close(() => done(failure));
}

function getCheckpoint({ checkpoint }: RecoveredState): Checkpoint {
  if (checkpoint === undefined) throw new Error('there is no checkpoint to install');
  return checkpoint;
}

/** Returns the positions that the checkpoint contains. */
function getContained(state: RecoveredState): LogPositions {
  const { shared, own } = getSavedSite(getCheckpoint(state));
  return getRedPositions(shared, own.syncedLength);
}

function getStarts({ local, red, partitions = [] }: RecoveredState): LogPositions {
  const starts: LogCounts = { local: local.start, red: red.start };
  for (const [index, { start }] of partitions.entries()) starts[getRedKind(index + 1)] = start;
  return starts;
}
