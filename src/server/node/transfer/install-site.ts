/**
 * Creates the directory of a site from a new state beside the old one, and replaces that by one
 * move.
 */
import type { Checkpoint, Section, SectionRows } from '../../service/records/checkpoint.ts';
import { getRedKind } from '../../log/local-log.ts';
import { getLogKinds, type LogCounts, type LogPositions } from '../../log/log-positions.ts';
import {
  getRecoveredLog,
  getRedPositions,
  getSavedSite,
  type RecoveredState,
} from '../../log/recovered-state.ts';
import { Checkpointer } from '../storage/checkpointer.ts';
import type { Files, Timing, ReadableFiles } from '../storage/disk/files.ts';
import {
  FORMAT_VERSION,
  formatSegmentName,
  type SegmentHeader,
} from '../storage/format/file-names.ts';
import { encodeFrame } from '../storage/format/frames.ts';
import { SegmentLog } from '../storage/segment-log.ts';
import { INCOMING } from './incoming-file.ts';

/** Where the data of a site is written. */
export interface SiteLocation {
  readonly files: Files;
  readonly timing: Timing;
  /** The directory of the site, relative to `files`. */
  readonly directory: string;
  readonly site: string;
}

export interface SiteInstallation extends SiteLocation {
  /** The new state, with its checkpoint. */
  readonly state: RecoveredState;
  /** Numbers that no file of this site has had yet. */
  readonly nextSegment: number;
  readonly nextCheckpoint: number;
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
const SEGMENT_BYTES = 1024 * 1024;

/**
 * Writes the directory and puts it in place. Until `done` is called without an error, the old one
 * counts.
 */
export function installSite(installation: SiteInstallation, done: Done): void {
  const { timing } = installation;
  const steps = [makeDraft, writeCheckpoint, writeHeader, writeEntries, putInPlace];
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
 * Ends an installation that a crash may have interrupted. Called at each start, before the
 * directory is read.
 */
export function finishInstallation(files: Files, directory: string): void {
  if (isInstalling(files)) {
    if (files.list(directory).length > 0) files.moveDirectory(directory, `${ARRIVED}/replaced`);
    files.moveDirectory(READY, directory);
  }
  files.removeNow(ARRIVED);
}

function makeDraft({ files }: SiteInstallation, done: Done): void {
  files.removeNow(DRAFT);
  files.makeDirectory(INCOMING);
  files.makeDirectory(DRAFT);
  done(undefined);
}

function putInPlace({ files, directory }: SiteInstallation, done: Done): void {
  files.removeNow(ARRIVED);
  files.moveDirectory(INCOMING, ARRIVED);
  finishInstallation(files, directory);
  done(undefined);
}

function writeCheckpoint(
  { files, timing, state, nextCheckpoint }: SiteInstallation,
  done: Done,
): void {
  const { sections, smallParts } = getCheckpoint(state);
  const saved = Object.entries(sections).map(
    ([name, rows]) => [name, new SavedSection(rows)] as const,
  );
  const checkpointer = new Checkpointer(
    {
      files,
      timing,
      directory: DRAFT,
      number: nextCheckpoint,
      source: {
        sections: Object.fromEntries(saved),
        createCut: () => ({ smallParts, contained: getContained(state) }),
        retainedFrom: getStarts(state),
      },
      onDone: () => {
        checkpointer.close();
        done(undefined);
      },
      onFailed: done,
    },
    undefined,
  );
  checkpointer.start();
}

/** Rows that do not change. */
class SavedSection implements Section {
  readonly #rows: Iterator<[string, unknown]>;

  constructor(rows: SectionRows) {
    this.#rows = rows.entries();
  }

  changeAll(): void {}

  closeChanges(): void {}

  takeClosed(max: number): [string, unknown][] {
    const taken: [string, unknown][] = [];
    while (taken.length < max) {
      const next = this.#rows.next();
      if (next.done === true) break;
      taken.push(next.value);
    }
    return taken;
  }

  restore(): void {}
}

/** Writes a log file without entries, which names where the logs begin. */
function writeHeader(
  { files, site, state, nextSegment, nextCheckpoint }: SiteInstallation,
  done: Done,
): void {
  const checkpoint = { file: nextCheckpoint, ...getContained(state) };
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
  { files, timing, site, state, nextSegment, nextCheckpoint }: SiteInstallation,
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
    lastCheckpoint: () => ({ file: nextCheckpoint, ...getContained(state) }),
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
