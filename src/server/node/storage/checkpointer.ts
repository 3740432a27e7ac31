/**
 * Writes checkpoints of a running site in slices. The last slice and the rest of the state are of
 * one moment.
 */
import { crc32 } from 'node:zlib';
import type { CheckpointSource } from '../../log/site-storage.ts';
import { getEarlier, type LogPositions } from '../../log/log-positions.ts';
import {
  formatCommit,
  formatHeader,
  formatRows,
  formatRow,
  type CheckpointRow,
} from './format/checkpoint-file.ts';
import type { Files, SyncedFile, Timing } from './disk/files.ts';
import { HEADER_BYTES, encodeFrame } from './format/frames.ts';
import { formatCheckpointCopyName, formatCheckpointName } from './format/file-names.ts';
import { DEFAULT_STORAGE_SIZES, type StorageSizes } from './storage-sizes.ts';

/**
 * The positions of a checkpoint in the logs: it has the entries before `contained`. The logs keep
 * their entries from `kept` on.
 */
export interface CommitPositions {
  readonly contained: LogPositions;
  readonly retainedFrom: LogPositions;
}

export interface CheckpointerOptions {
  /** Default: `DEFAULT_STORAGE_SIZES` */
  readonly sizes?: StorageSizes | undefined;
  readonly files: Files;
  readonly timing: Timing;
  readonly directory: string;
  /** Number of the first file to write. */
  readonly number: number;
  readonly source: CheckpointSource;
  /** A checkpoint is on the disk, in the file with this number. */
  onDone(positions: CommitPositions, file: number): void;
  /** The checkpoint could not be written. No data is lost, but the logs stay longer. */
  onFailed(error: Error): void;
}

/** A checkpoint file that is not changed or removed while it is held, up to the end of a commit. */
export interface HeldCheckpoint {
  /** The number of the file, and its two copies with the same bytes. */
  readonly number: number;
  readonly paths: readonly string[];
  /** Up to the end of a commit. */
  readonly bytes: number;
  release(): void;
}

/** Called once, with a checkpoint that began after it was requested. */
type OnSnapshot = (error: Error | undefined, snapshot?: HeldCheckpoint) => void;

interface CurrentFile {
  readonly number: number;
  readonly file: SyncedFile;
  position: number;
  frames: number;
  /** Checksum of all payloads so far. */
  sum: number;
  /** Length after the first checkpoint, which has the whole state; 0 before that. */
  wholeBytes: number;
}

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  #number: number;
  #current: CurrentFile | undefined;
  #isRunning = false;
  #isClosed = false;
  #slices: CheckpointSlices;
  readonly #outdated: number[];
  /** Callbacks that wait for the next checkpoint, and for the one in flight. */
  #requests: OnSnapshot[] = [];
  #inFlight: OnSnapshot[] = [];
  #isFreshFileWanted = false;
  /** How often each file is held. */
  readonly #held = new Map<number, number>();
  readonly #released = new Set<number>();

  /** @param replaced the number of the file that the first checkpoint replaces */
  constructor(options: CheckpointerOptions, replaced: number | undefined) {
    this.#options = options;
    this.#number = options.number;
    this.#slices = new CheckpointSlices(options.source, options.sizes);
    this.#outdated = replaced === undefined ? [] : [replaced];
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Begins a checkpoint, unless one is in flight. */
  start(): void {
    if (this.#isRunning || this.#isClosed) return;
    const { cutProblem } = this.#options.source;
    // Check this first: all rows are written before the cut is requested, and would be written
    // again at each retry.
    if (cutProblem !== undefined)
      return this.#endInFlight(this.#requests.splice(0), new Error(cutProblem));
    this.#isRunning = true;
    this.#inFlight = this.#requests.splice(0);
    const { source, sizes = DEFAULT_STORAGE_SIZES } = this.#options;
    this.#slices = new CheckpointSlices(source, sizes);
    const current = this.#current;
    const maxBytes = Math.max(sizes.minRewriteBytes, 2 * (current?.wholeBytes ?? 0));
    if (current !== undefined && current.position <= maxBytes && !this.#isFreshFileWanted)
      return this.#slice(current);
    if (current !== undefined && current.position > maxBytes) sizes.onExceeded?.('minRewriteBytes');
    this.#isFreshFileWanted = false;
    this.#abandonFile();
    this.#begin();
  }

  /**
   * Makes a checkpoint and keeps its file until it is released. It is written into a new file if
   * the present one does not fit.
   */
  takeSnapshot(done: OnSnapshot, { isFreshFile = false } = {}): void {
    if (this.#isClosed) return done(new Error('the storage was closed'));
    this.#requests.push(done);
    this.#isFreshFileWanted ||= isFreshFile;
    this.start();
  }

  /** What is not committed by now never will be. */
  close(): void {
    this.#isClosed = true;
    this.#current?.file.close();
    const waiting = [...this.#inFlight.splice(0), ...this.#requests.splice(0)];
    for (const done of waiting) done(new Error('the storage was closed'));
  }

  #begin(): void {
    const { files, directory, source } = this.#options;
    const number = this.#number++;
    createMirrored(files, getPaths(directory, number), (error, file) => {
      if (this.#isClosed) return file?.close();
      if (file === undefined) return this.#giveUp(error as Error);
      for (const section of Object.values(source.sections)) section.changeAll();
      this.#current = {
        number,
        file,
        position: 0,
        frames: 0,
        sum: 0,
        wholeBytes: 0,
      };
      this.#write(this.#current, formatHeader(), () => this.#nextSlice());
    });
  }

  #nextSlice(): void {
    this.#options.timing.later(() => {
      if (!this.#isClosed && this.#current !== undefined) this.#slice(this.#current);
    });
  }

  #slice(current: CurrentFile): void {
    try {
      const { rows, isLast } = this.#slices.take();
      if (!isLast) return this.#write(current, formatRows(rows), () => this.#nextSlice());
      // No changed rows are left: the rest is the state of this moment.
      const { source } = this.#options;
      const { smallParts, contained } = source.createCut();
      const retained = getEarlier(contained, source.retainedFrom);
      const text = formatCommit(rows, {
        smallParts,
        contained,
        retainedFrom: retained,
        sum: current.sum,
      });
      this.#write(current, text, () =>
        this.#onCommitted(current, { contained, retainedFrom: retained }),
      );
    } catch (error) {
      // For example if a row is longer than the longest possible string.
      this.#giveUp(error as Error);
    }
  }

  #write(current: CurrentFile, payload: string, done: () => void): void {
    const frame = encodeFrame(payload, {
      file: current.number,
      index: current.frames,
    });
    current.file.write(frame, current.position, (error) => {
      if (this.#isClosed) return;
      if (error !== undefined) return this.#giveUp(error);
      current.position += frame.length;
      current.frames += 1;
      current.sum = crc32(frame.subarray(HEADER_BYTES), current.sum);
      done();
    });
  }

  #onCommitted(current: CurrentFile, positions: CommitPositions): void {
    if (current.wholeBytes === 0) current.wholeBytes = current.position;
    for (const number of this.#outdated.splice(0)) this.#remove(number);
    this.#isRunning = false;
    for (const done of this.#inFlight.splice(0))
      done(undefined, this.#hold(current.number, current.position));
    this.#options.onDone(positions, current.number);
    if (this.#requests.length > 0) this.start();
  }

  #hold(number: number, bytes: number): HeldCheckpoint {
    this.#held.set(number, (this.#held.get(number) ?? 0) + 1);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#held.get(number) ?? 0) - 1;
      if (left > 0) return void this.#held.set(number, left);
      this.#held.delete(number);
      if (this.#released.delete(number)) this.#remove(number);
    };
    return {
      number,
      bytes,
      paths: getPaths(this.#options.directory, number),
      release,
    };
  }

  /**
   * Changes were taken that are on no disk now, so the next checkpoint must have the whole state.
   */
  #giveUp(error: Error): void {
    const current = this.#current;
    this.#abandonFile();
    // A file without a commit is useless. A file with a commit is still the last checkpoint.
    if (current !== undefined && current.wholeBytes === 0) {
      this.#outdated.pop();
      this.#remove(current.number);
    }
    this.#isRunning = false;
    this.#endInFlight([...this.#inFlight.splice(0), ...this.#requests.splice(0)], error);
  }

  #endInFlight(waiting: readonly OnSnapshot[], error: Error): void {
    for (const done of waiting) done(error);
    this.#options.onFailed(error);
  }

  /** Leaves the file until another one replaces it. */
  #abandonFile(): void {
    if (this.#current === undefined) return;
    this.#current.file.close();
    this.#outdated.push(this.#current.number);
    this.#current = undefined;
  }

  #remove(number: number): void {
    if (this.#held.has(number)) return void this.#released.add(number);
    for (const path of getPaths(this.#options.directory, number)) this.#options.files.remove(path);
  }
}

/** Returns the paths of both copies of a checkpoint. Each of them is enough. */
function getPaths(folder: string, number: number): readonly [string, string] {
  return [
    `${folder}/${formatCheckpointName(number)}`,
    `${folder}/${formatCheckpointCopyName(number)}`,
  ];
}

type OnCreated = (error: Error | undefined, file?: SyncedFile) => void;

/** Creates both files, empty. If that fails, neither is left. */
function createMirrored(
  files: Files,
  [first, second]: readonly [string, string],
  done: OnCreated,
): void {
  files.create(first, 0, (error, item) => {
    if (item === undefined) return done(error);
    files.create(second, 0, (secondError, other) => {
      if (other !== undefined) return done(undefined, mirrorWrites(item, other));
      item.close();
      files.remove(first);
      done(secondError);
    });
  });
}

/** Combines two files: a write is done once both have it. */
function mirrorWrites(item: SyncedFile, other: SyncedFile): SyncedFile {
  return {
    write(bytes, position, done) {
      let left = 2;
      let failure: Error | undefined;
      const ended = (error: Error | undefined): void => {
        failure ??= error;
        left -= 1;
        if (left === 0) done(failure);
      };
      item.write(bytes, position, ended);
      other.write(bytes, position, ended);
    },
    close() {
      item.close();
      other.close();
    },
  };
}

/** Rows of one frame, as they are written. */
export interface Slice {
  readonly rows: readonly string[];
  /** Whether no changed rows are left. */
  readonly isLast: boolean;
}

const SLICE_GROWTH = 1.1;
const INITIAL_ROWS = 8;
/** If rows are large, about this many characters are requested at a time. */
const MAX_REQUEST_CHARACTERS = 128 * 1024;

/**
 * Takes changed rows in slices by size. A slice grows with the changes that come meanwhile, so that
 * the last one comes soon.
 */
export class CheckpointSlices {
  readonly #source: CheckpointSource;
  readonly #sizes: StorageSizes;
  #characters: number;
  /**
   * Rows that were taken and are not in a slice yet. If small rows are followed by large ones, more
   * rows were requested than fit into a slice.
   */
  #taken: CheckpointRow[] = [];
  /** The size of the rows that were last requested. */
  #lastRequestCharacters = { rows: 0, characters: 0 };
  #remainingRows = Infinity;
  #firstTaken = 0;

  constructor(source: CheckpointSource, sizes: StorageSizes = DEFAULT_STORAGE_SIZES) {
    this.#source = source;
    this.#sizes = sizes;
    this.#characters = sizes.maxSliceCharacters;
  }

  take(): Slice {
    const rows: string[] = [];
    let characters = 0;
    while (this.#taken.length > 0 || this.#requestRows()) {
      if (characters >= this.#characters) return this.#partial(rows);
      const text = formatRow(this.#taken.shift()!);
      this.#lastRequestCharacters.characters += text.length;
      characters += text.length;
      rows.push(text);
    }
    return { rows, isLast: true };
  }

  /**
   * Takes about as many changed rows as are requested at a time. Returns whether there were any.
   */
  #requestRows(): boolean {
    const { rows, characters } = this.#lastRequestCharacters;
    const fit = Math.floor((MAX_REQUEST_CHARACTERS * rows) / Math.max(1, characters));
    const max = Math.min(
      this.#sizes.maxRequestedRows,
      rows === 0 ? INITIAL_ROWS : Math.max(1, fit),
    );
    for (const [name, section] of Object.entries(this.#source.sections)) {
      this.#taken = section
        .takeChanges(max)
        .map(([row, value]) => (value === undefined ? [name, row] : [name, row, value]));
      this.#lastRequestCharacters = { rows: this.#taken.length, characters: 0 };
      if (this.#taken.length === this.#sizes.maxRequestedRows)
        this.#sizes.onExceeded?.('maxRequestedRows');
      if (this.#taken.length > 0) return true;
    }
    return false;
  }

  #partial(rows: readonly string[]): Slice {
    this.#sizes.onExceeded?.('maxSliceCharacters');
    let [left, firstTaken] = [this.#taken.length, 0];
    for (const section of Object.values(this.#source.sections)) {
      left += section.changeCount;
      firstTaken += section.initialRowsTaken ?? 0;
    }
    // Rows that were taken for the first time were not counted as remaining. They show nothing of
    // how fast rows change.
    if (left - this.#remainingRows >= firstTaken - this.#firstTaken)
      this.#characters *= SLICE_GROWTH;
    this.#remainingRows = left;
    this.#firstTaken = firstTaken;
    return { rows, isLast: false };
  }
}
