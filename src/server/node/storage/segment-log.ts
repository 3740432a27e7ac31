/**
 * All logs of a site, in one sequence of files of full size. They are written in groups, and two
 * groups may be in flight.
 *
 * The next file is created when the current one is half full, and retried each second. Until it
 * exists, the log reports that it is full, and the other half takes what was accepted. Only a
 * failed write ends the log.
 */
import type { LocalLogListener, LogKind, Term } from '../../log/local-log.ts';
import {
  countEntry,
  getLogKinds,
  isAtMost,
  pickPositions,
  type LogCounts,
  type LogPositions,
} from '../../log/log-positions.ts';
import { isFenced, isNoSpace, type Files, type SyncedFile, type Timing } from './disk/files.ts';
import { encodeFrame, HEADER_BYTES, sealFrame } from './format/frames.ts';
import {
  FORMAT_VERSION,
  formatSegmentName,
  type Segment,
  type SegmentHeader,
} from './format/file-names.ts';
import { FULL_RETRY_MS, OrderedWrites } from './disk/ordered-writes.ts';
import { packEntries, type LoggedEntry } from './format/packed-entries.ts';
import { DEFAULT_STORAGE_SIZES, type StorageSizes } from './storage-sizes.ts';

export interface SegmentLogOptions {
  readonly files: Files;
  readonly timing: Timing;
  readonly directory: string;
  /** The name of the site, which its files contain. */
  readonly site?: string | undefined;
  /** Number of the first file to write. */
  readonly number: number;
  /** How many entries each log has already. */
  readonly lengths: LogPositions;
  /** The files with these entries. */
  readonly segments: readonly Segment[];
  readonly segmentBytes: number;
  /** A group of this many entries is large. */
  readonly largeGroup: number;
  /** Default: `DEFAULT_STORAGE_SIZES` */
  readonly sizes?: StorageSizes | undefined;
  /** Returns the last checkpoint. */
  lastCheckpoint(): SegmentHeader['checkpoint'];
  readonly listener: LocalLogListener;
  /** No further file can be created, with the reason, or it can again. */
  onFullChanged(because: Error | undefined): void;
}

interface NextFile {
  readonly number: number;
  readonly file: SyncedFile;
  readonly sizeBytes: number;
}

/** The first file of a start is small, because the start waits for it. */
const MAX_FIRST_FILE_BYTES = 1024 * 1024;
/**
 * A group that is this much smaller than the one before waits for more. It is probably the end of a
 * client's frame, and the next frame is on its way.
 */
const SMALL_GROUP_SHARE = 1 / 8;
/**
 * Groups of up to this many entries wait for more, and let answers be sent before: their write may
 * hold up everything else.
 */
const MAX_FEW_ENTRIES = 8;
/**
 * Two small groups at a time would be two halves of one, and disks take as long for a half as for a
 * whole one.
 */
const MAX_CONCURRENT_WRITES = 2;

/**
 * This many groups with the same few entries come from one client that waits for each answer. No
 * more will come meanwhile.
 */
const MIN_EQUAL_GROUPS = 8;

/** The logs of a site, written into one file after the other. */
export class SegmentLog {
  readonly #options: SegmentLogOptions;
  /** The number of the first file. No earlier start had it. */
  #term: Term | undefined;
  readonly #lengths: LogCounts;
  readonly #segments: Segment[];
  #pending: LoggedEntry[] = [];
  readonly #writes: OrderedWrites;
  /** `undefined` until the log is taken over. */
  #file: SyncedFile | undefined;
  #fileBytes: number;
  /** Bytes given to the current file, on the disk or not. */
  #position = 0;
  #frames = 0;
  /** The number of the last file whose header, with the positions before it, is on the disk. */
  #durableHeader: number;
  #number: number;
  /** The largest number of a created file. */
  #lastNumber: number;
  #next: NextFile | undefined;
  #isMaking = false;
  #isPlanned = false;
  #fullReason: Error | undefined;
  /** Whether the last attempt to create a file failed. */
  #isNextMissing = false;
  #canBeSmaller = false;
  #isOver = false;
  #writtenBytes = 0;
  #lastGroupSize = 0;
  /** How many groups before the last one had the same size. */
  #equalGroups = 0;
  #onIdle: (() => void) | undefined;

  constructor(options: SegmentLogOptions, Writes: typeof OrderedWrites = OrderedWrites) {
    this.#options = options;
    this.#lengths = pickPositions(options.lengths);
    this.#segments = [...options.segments];
    this.#writes = new Writes({
      timing: options.timing,
      onNoSpace: (error) => this.#setFull(error),
      onFailed: (error) => this.fail(error),
    });
    this.#number = options.number;
    this.#lastNumber = options.number;
    this.#durableHeader = options.segments.at(-1)?.number ?? 0;
    this.#fileBytes = Math.min(MAX_FIRST_FILE_BYTES, options.segmentBytes);
  }

  /**
   * Creates the first file. Its number, larger than all before, is the term. The first written
   * group contains it.
   */
  takeOver(): Term {
    this.#file = this.#options.files.createNow(this.#formatPath(this.#number), this.#fileBytes);
    this.#segments.push({ number: this.#number, ...this.#lengths });
    this.#term = this.#number;
    return this.#term;
  }

  /** Whether no further file can be created. */
  get isFull(): boolean {
    return this.#fullReason !== undefined;
  }

  get fullReason(): Error | undefined {
    return this.#fullReason;
  }

  /** Whether entries wait for a further file. */
  get isStuck(): boolean {
    const isWaiting = this.#writes.size > 0 || this.#pending.length > 0;
    return this.isFull && isWaiting && !this.#isPlanned && !this.#writes.isAtDisk;
  }

  /** Bytes written since the start. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  get segmentCount(): number {
    return this.#segments.length;
  }

  /** Where the entries of the oldest file end; `undefined` if it is the current file. */
  get oldestEnd(): LogPositions | undefined {
    return this.#segments[1];
  }

  append(log: LogKind, entries: readonly unknown[]): void {
    for (const entry of entries) this.#pending.push({ log, entry });
    if (this.#isPlanned || !this.#canWrite()) return;
    const { soon, later } = this.#options.timing;
    this.#plan(this.#pending.length < MAX_FEW_ENTRIES ? later : soon);
  }

  /** Removes the files whose entries are all before these positions. */
  trim(positions: LogPositions): void {
    for (;;) {
      const next = this.#segments[1];
      if (next === undefined || !isAtMost(next, positions)) return;
      // Without this file, none of the remaining ones would name the positions before it. Neither
      // would an empty one.
      if (next.number > this.#durableHeader) return;
      this.#options.files.remove(this.#formatPath((this.#segments.shift() as Segment).number));
    }
  }

  /**
   * Allows a smaller file, once all removable files are gone. Before that, it would take the room
   * of a checkpoint.
   */
  allowSmallerFile(): void {
    this.#canBeSmaller = this.isFull;
  }

  /** Removes a log in which nothing was written. */
  discard(): void {
    this.#isOver = true;
    this.#file?.close();
    // A rejected caller may retry at once.
    this.#options.files.removeNow(this.#formatPath(this.#number));
  }

  /** Calls back once nothing is left to write, or nothing can be written any more. */
  close(done: () => void): void {
    this.#onIdle = () => {
      this.#isOver = true;
      this.#writes.end();
      this.#file?.close();
      this.#next?.file.close();
      done();
    };
    this.#checkIdle();
  }

  #plan(when: (run: () => void) => void): void {
    this.#isPlanned = true;
    when(() => {
      this.#isPlanned = false;
      this.#write();
    });
  }

  #canWrite(): boolean {
    const { size } = this.#writes;
    return (
      size === 0 ||
      (size < MAX_CONCURRENT_WRITES &&
        this.#pending.length >= this.#options.largeGroup &&
        !this.isFull)
    );
  }

  #write(): void {
    if (this.#isOver || this.#pending.length === 0 || !this.#canWrite()) return this.#checkIdle();
    const { sizes = DEFAULT_STORAGE_SIZES } = this.#options;
    const { bytes, count } = packEntries(this.#pending, HEADER_BYTES, sizes.maxFrameBytes);
    if (count < this.#pending.length) sizes.onExceeded?.('maxFrameBytes');
    const frames = this.#createFrame(bytes);
    if (this.#position + frames.length > this.#fileBytes) return this.#switch(frames.length);
    const isAll = count === this.#pending.length;
    const group = isAll ? this.#pending : this.#pending.splice(0, count);
    if (isAll) this.#pending = [];
    this.#writeOut(group, frames);
  }

  /** Creates the frame of a group, after the header if it is the first in its file. */
  #createFrame(packed: Uint8Array): Uint8Array {
    const file = this.#number;
    if (this.#frames > 0) {
      return sealFrame(packed, {
        file,
        index: this.#frames,
        isSettled: this.#writes.size === 0,
      });
    }
    const checkpoint = this.#options.lastCheckpoint();
    const { site } = this.#options;
    const own = {
      format: FORMAT_VERSION,
      term: this.#term as Term,
      ...(site !== undefined && { site }),
    };
    const header: SegmentHeader = {
      ...own,
      ...this.#lengths,
      ...(checkpoint && { checkpoint }),
    };
    return Buffer.concat([
      encodeFrame(JSON.stringify(header), { file, index: 0 }),
      sealFrame(packed, { file, index: 1 }),
    ]);
  }

  #writeOut(group: readonly LoggedEntry[], bytes: Uint8Array): void {
    const position = this.#position;
    this.#frames += this.#frames === 0 ? 2 : 1;
    this.#position += bytes.length;
    // Count now: written entries that are not read again may be dropped.
    const counts: LogCounts = { local: 0, red: 0 };
    for (const { log } of group) countEntry(counts, log);
    const size = group.length;
    this.#equalGroups = size === this.#lastGroupSize ? this.#equalGroups + 1 : 0;
    this.#lastGroupSize = size;
    const mayBlock = size < MAX_FEW_ENTRIES && this.#equalGroups >= MIN_EQUAL_GROUPS;
    this.#writes.begin({ file: this.#file as SyncedFile, bytes, position, mayBlock }, () =>
      this.#onWritten(counts, size, bytes.length),
    );
  }

  #onWritten(counts: LogPositions, size: number, byteCount: number): void {
    if (!this.#isNextMissing) this.#setFull(undefined);
    this.#durableHeader = this.#number;
    this.#writtenBytes += byteCount;
    if (this.#position > this.#fileBytes / 2) this.#makeNext();
    const kinds = getLogKinds(counts);
    for (const kind of kinds)
      this.#lengths[kind] = (this.#lengths[kind] ?? 0) + (counts[kind] ?? 0);
    // The next group is on its way to the disk before the answers to this one are sent.
    const smallCount = Math.max(MAX_FEW_ENTRIES, size * SMALL_GROUP_SHARE);
    if (this.#pending.length > 0 && this.#pending.length < smallCount)
      this.#plan(this.#options.timing.later);
    else this.#write();
    for (const kind of kinds) {
      if ((counts[kind] ?? 0) > 0) this.#options.listener.onSynced(kind, this.#lengths[kind] ?? 0);
    }
  }

  #switch(neededBytes: number): void {
    // The header of the next file has the length of the logs before it, so only what counts.
    if (this.#writes.size > 0) return;
    if (this.#next === undefined || this.#next.sizeBytes < neededBytes) {
      if (this.#next !== undefined) {
        this.#next.file.close();
        this.#options.files.remove(this.#formatPath(this.#next.number));
        this.#next = undefined;
      }
      return this.#makeNext(neededBytes);
    }
    this.#file?.close();
    this.#file = this.#next.file;
    this.#number = this.#next.number;
    this.#fileBytes = this.#next.sizeBytes;
    this.#next = undefined;
    this.#position = 0;
    this.#frames = 0;
    this.#segments.push({ number: this.#number, ...this.#lengths });
    this.#write();
  }

  /** Creates the next file, of the usual size or for `neededBytes`. */
  #makeNext(neededBytes = 0): void {
    if (this.#isMaking || this.#next !== undefined || this.#isOver) return;
    this.#isMaking = true;
    const { segmentBytes } = this.#options;
    const wantedBytes = Math.max(segmentBytes, neededBytes);
    const leastBytes = this.#canBeSmaller
      ? Math.max(Math.min(MAX_FIRST_FILE_BYTES, segmentBytes), neededBytes)
      : wantedBytes;
    this.#create(wantedBytes, leastBytes, neededBytes);
  }

  #create(sizeBytes: number, leastBytes: number, neededBytes: number): void {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    this.#options.files.create(this.#formatPath(number), sizeBytes, (error, file) => {
      const isTooLarge =
        error !== undefined && isNoSpace(error) && sizeBytes / 2 >= leastBytes && !this.#isOver;
      if (isTooLarge) return this.#create(Math.ceil(sizeBytes / 2), leastBytes, neededBytes);
      this.#isMaking = false;
      if (this.#isOver) file?.close();
      else if (file !== undefined) this.#onCreated({ number, file, sizeBytes });
      // Another process owns the log and its next files, so there will be no room later.
      else if (isFenced(error as Error)) this.fail(error as Error);
      else this.#onNoSpace(error as Error, neededBytes);
    });
  }

  #onCreated(next: NextFile): void {
    this.#isNextMissing = false;
    this.#canBeSmaller = false;
    this.#next = next;
    this.#setFull(undefined);
    this.#write();
  }

  #onNoSpace(error: Error, neededBytes: number): void {
    this.#isNextMissing = true;
    this.#setFull(error);
    this.#options.timing.afterMs(FULL_RETRY_MS, () => this.#makeNext(neededBytes));
    this.#checkIdle();
  }

  #setFull(because: Error | undefined): void {
    const isNews = (because === undefined) === this.isFull;
    this.#fullReason = because;
    if (isNews) this.#options.onFullChanged(because);
  }

  /**
   * Ends the log: another process owns it, or its content on the disk is unknown after a failed
   * write.
   */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#writes.end();
    if (isFenced(error)) this.#options.listener.onFenced(error);
    else this.#options.listener.onFailed(error);
    this.#checkIdle();
  }

  #checkIdle(): void {
    const isStuck = this.isFull && !this.#writes.isAtDisk;
    const isBusy = this.#writes.size > 0 || this.#isPlanned || this.#pending.length > 0;
    if (!this.#isOver && !isStuck && isBusy) return;
    const onIdle = this.#onIdle;
    this.#onIdle = undefined;
    onIdle?.();
  }

  #formatPath(number: number): string {
    return `${this.#options.directory}/${formatSegmentName(number)}`;
  }
}
