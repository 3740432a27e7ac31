/**
 * Storage on a disk: synced logs with group commit, rows in a store that gets checkpoints as
 * commits, and recovery from both.
 */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { CheckpointSource, SiteStorage, StorageEvents } from '../../log/site-storage.ts';
import type { LocalLogListener, LogKind, Term } from '../../log/local-log.ts';
import { isAtMost, pickPositions } from '../../log/log-positions.ts';
import type { RecoveredState } from '../../log/recovered-state.ts';
import { isFenced, isNoSpace, type Files, type Timing } from './disk/files.ts';
import type { Ownership } from './disk/directory-lock.ts';
import type { SegmentHeader } from './format/file-names.ts';
import { recoverSite, type RecoveredSite } from './recovery.ts';
import { FULL_RETRY_MS, OrderedWrites } from './disk/ordered-writes.ts';
import { RowCommits, type CommitPositions, type OnCommit } from './rows/row-commits.ts';
import type { RowSnapshot, RowStore } from './rows/row-store.ts';
import { SegmentLog } from './segment-log.ts';
import type { StorageSizes } from './storage-sizes.ts';

export interface DurableStorageOptions {
  readonly files: Files;
  readonly timing: Timing;
  /** The directory of the site, relative to `files`. */
  readonly directory: string;
  /** The store of its rows. It is closed with the storage. */
  readonly rows: RowStore;
  /** The name of the site, which its files contain. */
  readonly site?: string;
  readonly segmentBytes?: number;
  /** From this many waiting entries on, a group does not wait for the write before it. */
  readonly largeGroup?: number;
  /**
   * A checkpoint is made whenever this many bytes were written to the logs. A restart reads about
   * as many again.
   */
  readonly checkpointBytes?: number;
  /** Default: `DEFAULT_STORAGE_SIZES` */
  readonly sizes?: StorageSizes | undefined;
  /**
   * Reports whether this process still owns the directory. Absent if no other process can reach it.
   */
  readonly lock?: Ownership;
  /** Receives events that an operator must know. */
  readonly events?: StorageEvents;
  /** The recovered state, if it was read already. */
  readonly recovered?: OpenedSite;
}

/** A recovered site, and the last commit, which it reads its rows from. */
export interface OpenedSite extends RecoveredSite {
  readonly snapshot: RowSnapshot;
}

export const SEGMENT_BYTES = 8 * 1024 * 1024;
/** The number of entries in a full frame of a busy client. */
const LARGE_GROUP = 32;
const MAX_CHECKPOINT_RETRY_MS = 60_000;
/**
 * On a full disk, the checkpoint makes room, and operations that need room are refused meanwhile.
 */
const FULL_CHECKPOINT_RETRY_MS = 2000;
export const CHECKPOINT_BYTES = 32 * 1024 * 1024;
/** A site that is restarted often makes a checkpoint when it has this many log files. */
const MAX_SEGMENTS_AT_START = 4;

export class DurableStorage implements SiteStorage {
  readonly term: Term;
  readonly #options: Omit<DurableStorageOptions, 'recovered'>;
  /** The recovered state until it is loaded. It may be as large as the site's state. */
  #recovered: OpenedSite | undefined;
  readonly #log: SegmentLog;
  #commits: RowCommits | undefined;
  #listener: LocalLogListener | undefined;
  #source: CheckpointSource | undefined;
  /** The positions of the last checkpoint of this start. */
  #checkpointed: CommitPositions = {
    contained: { local: 0, red: 0 },
    retainedFrom: { local: 0, red: 0 },
  };
  #lastCheckpoint: SegmentHeader['checkpoint'];
  #checkpointedBytes = 0;
  #checkpointRetryMs = FULL_RETRY_MS;
  /** The checkpoint that will be retried: only the last one that was planned. */
  #plannedRetry: object | undefined;
  #closing: Promise<void> | undefined;

  /**
   * @throws CorrectableError `UNAVAILABLE` if the data is unreadable, or there is no room for a new
   * file
   */
  constructor(
    { recovered, ...options }: DurableStorageOptions,
    Writes: typeof OrderedWrites = OrderedWrites,
  ) {
    const {
      files,
      timing,
      directory,
      rows,
      site,
      segmentBytes = SEGMENT_BYTES,
      largeGroup = LARGE_GROUP,
    } = options;
    this.#options = options;
    this.#recovered =
      recovered ?? recoverAndReport({ files, rows, directory }, options.events, site);
    files.makeDirectory(directory);
    const { lengths, segments, nextSegment: number, lastCheckpoint } = this.#recovered;
    this.#lastCheckpoint = lastCheckpoint;
    const listener: LocalLogListener = {
      onSynced: (log, length) => this.#onSynced(log, length),
      onFenced: (error) => {
        options.events?.onFenced(error);
        this.#listener?.onFenced(error);
      },
      onFailed: (error) => {
        options.events?.onStopped(error);
        this.#listener?.onFailed(error);
      },
    };
    const onFullChanged = (because: Error | undefined): void => {
      options.events?.onFullChanged(because);
      // The logs themselves may fill the disk. A checkpoint makes them shorter.
      if (because !== undefined) timing.later(() => this.checkpoint());
    };
    try {
      this.#log = new SegmentLog(
        {
          files,
          timing,
          directory,
          site,
          number,
          lengths,
          segments,
          segmentBytes,
          largeGroup,
          sizes: options.sizes,
          listener,
          onFullChanged,
          lastCheckpoint: () => this.#lastCheckpoint,
        },
        Writes,
      );
      // Each start creates a file with a new number before anything else.
      this.term = this.#log.takeOver();
      options.lock?.onLost((error) => this.#log.fail(error));
    } catch (error) {
      throw cannotStartError(error as Error);
    }
  }

  get stored(): RecoveredState {
    return this.#onRecovered.stored;
  }

  get isFull(): boolean {
    return this.#log.isFull;
  }

  get fullReason(): string | undefined {
    const error = this.#log.fullReason;
    if (error === undefined) return undefined;
    return isNoSpace(error) ? 'The disk is full' : `No log file can be made (${error.message})`;
  }

  get isStuck(): boolean {
    return this.#log.isStuck;
  }

  isOwned(): boolean {
    return this.#options.lock?.isHeld() ?? true;
  }

  attach(source: CheckpointSource, listener: LocalLogListener): void {
    this.#listener = listener;
    this.#source = source;
    const { files, timing, rows: store } = this.#options;
    const { lastCommit: number, snapshot, damages, uselessFiles } = this.#onRecovered;
    this.#recovered = undefined;
    // Only once all sites can start: a start that fails leaves everything as it was.
    for (const path of uselessFiles) files.remove(path);
    this.#commits = new RowCommits({
      store,
      snapshot,
      timing,
      number,
      source,
      sizes: this.#options.sizes,
      onDone: (positions, commit) => this.#onCheckpoint(positions, commit),
      onFailed: (error) => this.#onCheckpointFailed(error),
      onBroken: (error) => this.#log.fail(error),
    });
    if (this.#log.segmentCount > MAX_SEGMENTS_AT_START || damages.length > 0)
      timing.later(() => this.checkpoint());
    // What a start has found may fill the memory, so that nothing more is written.
    else timing.later(() => this.#checkpointIfDue());
  }

  get #onRecovered(): OpenedSite {
    if (this.#recovered === undefined)
      throw new Error('what was found at the start has been taken up already');
    return this.#recovered;
  }

  append(log: LogKind, entries: readonly unknown[]): void {
    this.#log.append(log, entries);
  }

  /** Begins a checkpoint, unless one is in flight. */
  checkpoint(): void {
    this.#checkpointedBytes = this.#log.writtenBytes;
    this.#commits?.start();
  }

  /** Makes a checkpoint of the state from now on, and keeps it until it is released. */
  takeSnapshot(done: OnCommit): void {
    if (this.#commits === undefined) return done(new Error('the site has not begun'));
    this.#checkpointedBytes = this.#log.writtenBytes;
    this.#commits.take(done);
  }

  /** Whether anything may have been written since it was opened. */
  get hasBegun(): boolean {
    return this.#listener !== undefined;
  }

  /** Closes once: by a second call, the files may belong to another process. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  async #end(): Promise<void> {
    this.#commits?.close();
    const hasBegun = this.hasBegun;
    // A start that failed has written nothing, so its file number need not be kept.
    if (hasBegun) await new Promise<void>((resolve) => this.#log.close(resolve));
    else this.#log.discard();
    await this.#options.rows.close();
  }

  #onSynced(log: LogKind, length: number): void {
    this.#listener?.onSynced(log, length);
    this.#removeOldSegments();
    const { checkpointBytes = CHECKPOINT_BYTES } = this.#options;
    const isLong = this.#log.writtenBytes - this.#checkpointedBytes >= checkpointBytes;
    if (isLong && this.#commits?.isRunning !== true) this.checkpoint();
    else this.#checkpointIfDue();
  }

  /** Memory must not wait for the log. After a failure, the planned retry is the next attempt. */
  #checkpointIfDue(): void {
    if (this.#commits?.isRunning === true || this.#plannedRetry !== undefined) return;
    if (this.#source?.isCheckpointDue === true) this.checkpoint();
  }

  #onCheckpoint(positions: CommitPositions, number: number): void {
    this.#checkpointed = positions;
    this.#lastCheckpoint = { file: number, ...pickPositions(positions.contained) };
    this.#source?.onCheckpointed?.(positions.contained);
    this.#checkpointRetryMs = FULL_RETRY_MS;
    this.#plannedRetry = undefined;
    this.#removeOldSegments();
    this.#log.allowSmallerFile();
    // More may have changed meanwhile than memory has room for.
    const hasChanged = this.#log.writtenBytes > this.#checkpointedBytes;
    if (hasChanged) this.#options.timing.later(() => this.#checkpointIfDue());
  }

  /** Removes the segments that are in the checkpoint and that no other site needs. */
  #removeOldSegments(): void {
    const { contained, retainedFrom } = this.#checkpointed;
    const end = this.#log.oldestEnd;
    if (this.#source === undefined || end === undefined || !isAtMost(end, contained)) return;
    if (isAtMost(end, retainedFrom)) this.#log.trim(retainedFrom);
    // They must be recorded as not needed first. Otherwise a loss of one of them could not be
    // noticed.
    else if (this.#plannedRetry === undefined && isAtMost(end, this.#source.retainedFrom))
      this.checkpoint();
  }

  #onCheckpointFailed(error: Error): void {
    if (isFenced(error)) return this.#log.fail(error);
    // Reported once, and retried less and less often: each attempt may write much.
    if (this.#checkpointRetryMs === FULL_RETRY_MS) this.#options.events?.onCheckpointFailed(error);
    // Room may come and go.
    const isForRoom = this.isFull || isNoSpace(error);
    const maxRetryMs = isForRoom ? FULL_CHECKPOINT_RETRY_MS : MAX_CHECKPOINT_RETRY_MS;
    const retryMs = Math.min(this.#checkpointRetryMs, maxRetryMs);
    this.#checkpointRetryMs = Math.min(this.#checkpointRetryMs * 2, MAX_CHECKPOINT_RETRY_MS);
    const retry = {};
    this.#plannedRetry = retry;
    this.#options.timing.afterMs(retryMs, () => {
      if (this.#closing !== undefined || this.#plannedRetry !== retry) return;
      this.#plannedRetry = undefined;
      this.checkpoint();
    });
  }
}

/** What a site is recovered from. */
export type SiteDirectory = Pick<DurableStorageOptions, 'files' | 'rows' | 'directory'>;

/** Recovers a site and reports its damage. Throws `UNAVAILABLE` if something is missing. */
export function recoverAndReport(
  { files, rows, directory }: SiteDirectory,
  events: StorageEvents | undefined,
  site?: string,
): OpenedSite {
  const snapshot = rows.openSnapshot();
  try {
    const recovered = recoverSite(files, snapshot, directory, site);
    for (const damage of recovered.damages) events?.onDamaged(describeHarmless(damage));
    return { ...recovered, snapshot };
  } catch (error) {
    snapshot.close();
    events?.onDamaged((error as Error).message);
    throw error;
  }
}

/** Describes damage of what a start does not need. */
export function describeHarmless(damage: string): string {
  return `${damage}. Nothing is lost by it, and it is made again`;
}

function cannotStartError(error: Error): CorrectableError {
  if (error instanceof CorrectableError) return error;
  const reason = isNoSpace(error)
    ? 'there is no room on the disk for a new log file'
    : error.message;
  return new CorrectableError('UNAVAILABLE', `The site cannot start: ${reason}.`, { cause: error });
}
