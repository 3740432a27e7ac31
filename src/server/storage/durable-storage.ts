/** Storage on a disk: synced logs with group commit, checkpoints, and recovery from both. */
import { CorrectableError } from '../../correctable/errors.ts';
import type { CheckpointSource, SiteStorage, StorageEvents, StorageListener } from '../log/storage.ts';
import type { Term } from '../log/local-log.ts';
import type { LogId } from '../log/log-id.ts';
import type { LogPlaces, StoredSite } from '../log/stored-site.ts';
import { Checkpointer, type CommitPlaces } from './checkpointer.ts';
import { isFenced, isNoSpace, type Files, type Timing } from './disk/files.ts';
import type { FolderLock } from './disk/folder-lock.ts';
import type { SegmentHeader } from './format/names.ts';
import { recover, type Recovered } from './recovery.ts';
import { FULL_RETRY_MS } from './disk/ordered-writes.ts';
import { SegmentLog, type SegmentLogOptions } from './segment-log.ts';

/** How a site's storage is set up. */
export interface DurableStorageOptions {
  readonly files: Files;
  readonly timing: Timing;
  /** The folder of the site, relative to `files`. */
  readonly folder: string;
  /** The partition whose logs they are; 0 unless given. */
  readonly partition?: number;
  /** The name of the site, which its files say. */
  readonly site?: string;
  /** Size of one log file. */
  readonly segmentBytes?: number;
  /** Entries that wait for the disk: so many need not wait for the write before them. */
  readonly largeGroup?: number;
  /** A checkpoint is made each time that so much was written to the logs: about what a restart reads again. */
  readonly checkpointBytes?: number;
  /** Says whether the folder still is this process's alone: absent where nobody else can come by it. */
  readonly lock?: Pick<FolderLock, 'isHeld' | 'onLost'>;
  /** Told of what an operator must know. */
  readonly events?: StorageEvents;
  /** What there is, where that was looked at already. */
  readonly recovered?: Recovered;
}

const SEGMENT_BYTES = 8 * 1024 * 1024;
/** As many as a full frame of a busy client has. */
const LARGE_GROUP = 256;
const CHECKPOINT_RETRY_MS_MAX = 60_000;
/** On a full disk it is the checkpoint that makes room, and who waits for it is refused meanwhile. */
const FULL_CHECKPOINT_RETRY_MS = 2000;
const CHECKPOINT_BYTES = 32 * 1024 * 1024;
/** A site that is restarted again and again makes a checkpoint when it has so many log files. */
const SEGMENTS_AT_START_MAX = 4;

/** One site's logs and checkpoints in a folder. */
export class DurableStorage implements SiteStorage {
  readonly term: Term;
  readonly #options: Omit<DurableStorageOptions, 'recovered'>;
  /** What was found, until it is taken up: it may be as large as the state. */
  #recovered: Recovered | undefined;
  readonly #log: SegmentLog;
  #checkpointer: Checkpointer | undefined;
  #listener: StorageListener | undefined;
  #source: CheckpointSource | undefined;
  /** Where the last checkpoint of this start stands. */
  #checkpointed: CommitPlaces = { contained: { local: 0, red: 0 }, kept: { local: 0, red: 0 } };
  #lastCheckpoint: SegmentHeader['checkpoint'];
  #checkpointedBytes = 0;
  #checkpointRetryMs = FULL_RETRY_MS;
  /** The checkpoint that will be tried again: none but the last that was planned. */
  #plannedRetry: object | undefined;
  #closing: Promise<void> | undefined;

  /**
   * Reads what there is and makes the first new file.
   *
   * @throws CorrectableError `UNAVAILABLE` when the data cannot be read, or there is no room for a new file.
   */
  constructor({ recovered, ...options }: DurableStorageOptions) {
    const { files, timing, folder } = options;
    const { segmentBytes = SEGMENT_BYTES, largeGroup = LARGE_GROUP, partition, site } = options;
    this.#options = options;
    this.#recovered = recovered ?? recoverTold(files, folder, options.events, site);
    files.makeFolder(folder);
    const { lengths, segments, nextSegment: number, lastCheckpoint } = this.#recovered;
    this.#lastCheckpoint = lastCheckpoint;
    const listener: StorageListener = {
      synced: (log, length) => this.#onSynced(log, length),
      fenced: (error) => {
        options.events?.fenced(error);
        this.#listener?.fenced(error);
      },
      failed: (error) => {
        options.events?.stopped(error);
        this.#listener?.failed(error);
      },
    };
    const fullChanged = (because: Error | undefined): void => {
      options.events?.fullChanged(because);
      // It may be that the logs themselves fill the disk: a checkpoint makes them shorter.
      if (because !== undefined) timing.later(() => this.checkpoint());
    };
    try {
      this.#log = this.createLog({
        files,
        timing,
        folder,
        partition,
        site,
        number,
        lengths,
        segments,
        segmentBytes,
        largeGroup,
        listener,
        fullChanged,
        lastCheckpoint: () => this.#lastCheckpoint,
      });
      // Each start makes a file with a new number before anything else.
      this.term = this.#log.takeOver();
      options.lock?.onLost((error) => this.#log.fail(error));
    } catch (error) {
      throw cannotStart(error as Error);
    }
  }

  protected createLog(options: SegmentLogOptions): SegmentLog {
    return new SegmentLog(options);
  }

  get stored(): StoredSite {
    return this.#found.stored;
  }

  get isFull(): boolean {
    return this.#log.isFull;
  }

  get fullBecause(): string | undefined {
    const error = this.#log.fullBecause;
    if (error === undefined) return undefined;
    return isNoSpace(error) ? 'The disk is full' : `No log file can be made (${error.message})`;
  }

  get isStuck(): boolean {
    return this.#log.isStuck;
  }

  isHeld(): boolean {
    return this.#options.lock?.isHeld() ?? true;
  }

  attach(source: CheckpointSource, listener: StorageListener): void {
    this.#listener = listener;
    this.#source = source;
    const { files, timing, folder } = this.#options;
    const { nextCheckpoint: number, lastCheckpoint, damages, hasOneCopy, useless } = this.#found;
    this.#recovered = undefined;
    // Not before all sites can start: a start that comes to nothing leaves everything as it was.
    for (const path of useless) files.remove(path);
    const on = {
      onDone: (places: CommitPlaces, file: number) => this.#onCheckpoint(places, file),
      onFailed: (error: Error) => this.#onCheckpointFailed(error),
    };
    this.#checkpointer = new Checkpointer({ files, timing, folder, number, source, ...on }, lastCheckpoint?.file);
    const isDue = this.#log.segmentCount > SEGMENTS_AT_START_MAX || hasOneCopy || damages.length > 0;
    if (isDue) timing.later(() => this.checkpoint());
  }

  get #found(): Recovered {
    if (this.#recovered === undefined) throw new Error('what was found at the start has been taken up already');
    return this.#recovered;
  }

  append(log: LogId, entries: readonly unknown[]): void {
    this.#log.append(this.term, log, entries);
  }

  /** Begins a checkpoint, unless one is under way. */
  checkpoint(): void {
    this.#checkpointedBytes = this.#log.writtenBytes;
    this.#checkpointer?.start();
  }

  /** Whether anything may have been written since it was opened. */
  get hasBegun(): boolean {
    return this.#listener !== undefined;
  }

  /** Once: what is there by the second time may be another one's. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  #end(): Promise<void> {
    this.#checkpointer?.close();
    if (this.hasBegun) return new Promise((resolve) => this.#log.close(resolve));
    // A start that came to nothing has said nothing either: no number of it need be kept.
    this.#log.discard();
    return Promise.resolve();
  }

  #onSynced(log: LogId, length: number): void {
    this.#listener?.synced(log, length);
    this.#removeOldSegments();
    const { checkpointBytes = CHECKPOINT_BYTES } = this.#options;
    if (this.#log.writtenBytes - this.#checkpointedBytes >= checkpointBytes) this.checkpoint();
  }

  #onCheckpoint(places: CommitPlaces, file: number): void {
    this.#checkpointed = places;
    this.#lastCheckpoint = { file, ...places.contained };
    this.#source?.checkpointed?.(places.contained);
    this.#checkpointRetryMs = FULL_RETRY_MS;
    this.#plannedRetry = undefined;
    this.#removeOldSegments();
    this.#log.settleForLess();
  }

  /** Those that the checkpoint contains and no other site needs. */
  #removeOldSegments(): void {
    const { contained, kept } = this.#checkpointed;
    const end = this.#log.oldestEnd;
    if (this.#source === undefined || end === undefined || !isUpTo(end, contained)) return;
    if (isUpTo(end, kept)) this.#log.trim(kept);
    // Not before it is written down that they are not needed: else nobody could tell that one of them is lost.
    else if (this.#plannedRetry === undefined && isUpTo(end, this.#source.keptFrom)) this.checkpoint();
  }

  #onCheckpointFailed(error: Error): void {
    if (isFenced(error)) return this.#log.fail(error);
    // Told once, and tried less and less often: it may have to write much each time.
    if (this.#checkpointRetryMs === FULL_RETRY_MS) this.#options.events?.checkpointFailed(error);
    const retryMs = this.isFull ? Math.min(this.#checkpointRetryMs, FULL_CHECKPOINT_RETRY_MS) : this.#checkpointRetryMs;
    this.#checkpointRetryMs = Math.min(this.#checkpointRetryMs * 2, CHECKPOINT_RETRY_MS_MAX);
    const retry = {};
    this.#plannedRetry = retry;
    this.#options.timing.afterMs(retryMs, () => {
      if (this.#closing !== undefined || this.#plannedRetry !== retry) return;
      this.#plannedRetry = undefined;
      this.checkpoint();
    });
  }
}

/**
 * Reads what a site has, and tells of what is damaged.
 *
 * @param site as `recover` wants it
 * @throws CorrectableError `UNAVAILABLE` when something is missing that was on the disk once.
 */
export function recoverTold(files: Files, folder: string, events: StorageEvents | undefined, site?: string): Recovered {
  try {
    const recovered = recover(files, folder, site);
    for (const damage of recovered.damages) events?.damaged(`${damage}. Nothing is lost by it, and it is made again`);
    return recovered;
  } catch (error) {
    events?.damaged((error as Error).message);
    throw error;
  }
}

function cannotStart(error: Error): CorrectableError {
  if (error instanceof CorrectableError) return error;
  const why = isNoSpace(error) ? 'there is no room on the disk for a new log file' : error.message;
  return new CorrectableError('UNAVAILABLE', `The site cannot start: ${why}.`, { cause: error });
}

function isUpTo(places: LogPlaces, limit: LogPlaces): boolean {
  return places.local <= limit.local && places.red <= limit.red;
}
