/** Storage on a disk: synced logs with group commit, checkpoints, and recovery from both. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { CheckpointSource, SiteStorage, StorageEvents } from '../../log/site-storage.ts';
import type { LocalLogListener, LogKind, Term } from '../../log/local-log.ts';
import { isAtMost, pickPositions } from '../../log/log-positions.ts';
import type { RecoveredState } from '../../log/recovered-state.ts';
import { Checkpointer, type CommitPositions } from './checkpointer.ts';
import { isFenced, isNoSpace, type Files, type Timing } from './disk/files.ts';
import type { Ownership } from './disk/directory-lock.ts';
import type { SegmentHeader } from './format/file-names.ts';
import { recoverSite, type RecoveredSite } from './recovery.ts';
import { FULL_RETRY_MS } from './disk/ordered-writes.ts';
import { OrderedWrites } from './disk/ordered-writes.ts';
import { SegmentLog } from './segment-log.ts';
import type { StorageSizes } from './storage-sizes.ts';

export interface DurableStorageOptions {
  readonly files: Files;
  readonly timing: Timing;
  /** The directory of the site, relative to `files`. */
  readonly directory: string;
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
  readonly recovered?: RecoveredSite;
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
  #recovered: RecoveredSite | undefined;
  readonly #log: SegmentLog;
  #checkpointer: Checkpointer | undefined;
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
      site,
      segmentBytes = SEGMENT_BYTES,
      largeGroup = LARGE_GROUP,
    } = options;
    this.#options = options;
    this.#recovered = recovered ?? recoverAndReport(files, directory, options.events, site);
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
    const { files, timing, directory, sizes } = this.#options;
    const {
      nextCheckpoint: number,
      lastCheckpoint,
      damages,
      hasOneCopy,
      uselessFiles,
    } = this.#onRecovered;
    this.#recovered = undefined;
    // Only once all sites can start: a start that fails leaves everything as it was.
    for (const path of uselessFiles) files.remove(path);
    this.#checkpointer = new Checkpointer(
      {
        sizes,
        files,
        timing,
        directory,
        number,
        source,
        onDone: (positions, file) => this.#onCheckpoint(positions, file),
        onFailed: (error) => this.#onCheckpointFailed(error),
      },
      lastCheckpoint?.file,
    );
    const isDue =
      this.#log.segmentCount > MAX_SEGMENTS_AT_START || hasOneCopy || damages.length > 0;
    if (isDue) timing.later(() => this.checkpoint());
  }

  get #onRecovered(): RecoveredSite {
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
    this.#checkpointer?.start();
  }

  /** Makes a checkpoint of the state from now on. Its file stays until it is released. */
  takeSnapshot(...[done, options]: Parameters<Checkpointer['takeSnapshot']>): void {
    if (this.#checkpointer === undefined) return done(new Error('the site has not begun'));
    this.#checkpointedBytes = this.#log.writtenBytes;
    this.#checkpointer.takeSnapshot(done, options);
  }

  /** Whether anything may have been written since it was opened. */
  get hasBegun(): boolean {
    return this.#listener !== undefined;
  }

  /** Closes once: by a second call, the files may belong to another process. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  #end(): Promise<void> {
    this.#checkpointer?.close();
    if (this.hasBegun) return new Promise((resolve) => this.#log.close(resolve));
    // A start that failed has written nothing, so its file number need not be kept.
    this.#log.discard();
    return Promise.resolve();
  }

  #onSynced(log: LogKind, length: number): void {
    this.#listener?.onSynced(log, length);
    this.#removeOldSegments();
    const { checkpointBytes = CHECKPOINT_BYTES } = this.#options;
    if (this.#log.writtenBytes - this.#checkpointedBytes >= checkpointBytes) this.checkpoint();
  }

  #onCheckpoint(positions: CommitPositions, file: number): void {
    this.#checkpointed = positions;
    this.#lastCheckpoint = { file, ...pickPositions(positions.contained) };
    this.#source?.onCheckpointed?.(positions.contained);
    this.#checkpointRetryMs = FULL_RETRY_MS;
    this.#plannedRetry = undefined;
    this.#removeOldSegments();
    this.#log.allowSmallerFile();
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
    const retryMs = this.isFull
      ? Math.min(this.#checkpointRetryMs, FULL_CHECKPOINT_RETRY_MS)
      : this.#checkpointRetryMs;
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

/** Recovers a site and reports its damage. Throws `UNAVAILABLE` if something is missing. */
export function recoverAndReport(
  files: Files,
  folder: string,
  events: StorageEvents | undefined,
  site?: string,
): RecoveredSite {
  try {
    const recovered = recoverSite(files, folder, site);
    for (const damage of recovered.damages)
      events?.onDamaged(`${damage}. Nothing is lost by it, and it is made again`);
    return recovered;
  } catch (error) {
    events?.onDamaged((error as Error).message);
    throw error;
  }
}

function cannotStartError(error: Error): CorrectableError {
  if (error instanceof CorrectableError) return error;
  const reason = isNoSpace(error)
    ? 'there is no room on the disk for a new log file'
    : error.message;
  return new CorrectableError('UNAVAILABLE', `The site cannot start: ${reason}.`, { cause: error });
}
