/**
 * Writes checkpoints of a running site in slices. All of a checkpoint is as it was at one moment,
 * when it was cut.
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
import { encodeValue } from './format/value-text.ts';
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

/** What is written into the present file: the state as it was at the cut. */
interface Cut {
  readonly slices: CheckpointSlices;
  readonly contained: LogPositions;
  /** Formatted at once, since the state goes on changing. */
  readonly smallParts: string;
}

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
    this.#outdated = replaced === undefined ? [] : [replaced];
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Begins a checkpoint, unless one is in flight. */
  start(): void {
    if (this.#isRunning || this.#isClosed) return;
    const { cutProblem } = this.#options.source;
    // Check this first: a file would be made in vain at each retry.
    if (cutProblem !== undefined)
      return this.#endInFlight(this.#requests.splice(0), new Error(cutProblem));
    this.#isRunning = true;
    this.#inFlight = this.#requests.splice(0);
    const { sizes = DEFAULT_STORAGE_SIZES } = this.#options;
    const current = this.#current;
    const maxBytes = Math.max(sizes.minRewriteBytes, 2 * (current?.wholeBytes ?? 0));
    if (current !== undefined && current.position <= maxBytes && !this.#isFreshFileWanted)
      return this.#cut(current);
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
    const { files, directory } = this.#options;
    const number = this.#number++;
    createMirrored(files, getPaths(directory, number), (error, file) => {
      if (this.#isClosed) return file?.close();
      if (file === undefined) return this.#giveUp(error as Error);
      this.#current = {
        number,
        file,
        position: 0,
        frames: 0,
        sum: 0,
        wholeBytes: 0,
      };
      this.#write(this.#current, formatHeader(), () =>
        this.#later((current) => this.#cut(current)),
      );
    });
  }

  #later(run: (current: CurrentFile) => void): void {
    this.#options.timing.later(() => {
      if (!this.#isClosed && this.#current !== undefined) run(this.#current);
    });
  }

  /** Saves the small parts, and closes the set of changed rows, which are taken in slices. */
  #cut(current: CurrentFile): void {
    const { source, sizes } = this.#options;
    this.#try(() => {
      const { smallParts, contained } = source.createCut();
      const cut = { contained, smallParts: encodeValue(smallParts) };
      for (const section of Object.values(source.sections)) section.closeChanges();
      this.#slice(current, { ...cut, slices: new CheckpointSlices(source, sizes) });
    });
  }

  /** @param encoded rows that earlier turns have encoded, and that are not written yet */
  #slice(current: CurrentFile, cut: Cut, encoded: readonly string[] = []): void {
    this.#try(() => {
      const { rows: taken, isLast, isFull } = cut.slices.take();
      const rows = encoded.length === 0 ? taken : [...encoded, ...taken];
      if (!isLast && !isFull) return this.#later((file) => this.#slice(file, cut, rows));
      if (!isLast) {
        const next = (): void => this.#later((file) => this.#slice(file, cut));
        return this.#write(current, formatRows(rows), next);
      }
      const { contained, smallParts } = cut;
      const retainedFrom = getEarlier(contained, this.#options.source.retainedFrom);
      const commit = { smallParts, contained, retainedFrom, sum: current.sum };
      this.#write(current, formatCommit(rows, commit), () =>
        this.#onCommitted(current, { contained, retainedFrom }),
      );
    });
  }

  /** An exception makes the checkpoint fail, for example of a row that no string can hold. */
  #try(run: () => void): void {
    try {
      run();
    } catch (error) {
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

  /**
   * Leaves the file until another one replaces it, with the whole state. So that one also has the
   * rows of a checkpoint that failed.
   */
  #abandonFile(): void {
    if (this.#current === undefined) return;
    this.#current.file.close();
    this.#outdated.push(this.#current.number);
    this.#current = undefined;
    for (const section of Object.values(this.#options.source.sections)) section.changeAll();
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

/** Rows that one turn of the event loop has encoded. */
export interface Slice {
  readonly rows: readonly string[];
  /** Whether no rows are left. */
  readonly isLast: boolean;
  /** Whether the rows since the last full slice fill a frame. */
  readonly isFull: boolean;
}

const INITIAL_ROWS = 8;
/** If rows are large, about this many characters are requested at a time. */
const MAX_REQUEST_CHARACTERS = 128 * 1024;
/**
 * About how many characters one turn encodes, so that inputs wait for some milliseconds only. Each
 * frame is a write of its own, so several turns share a frame.
 */
const MAX_TURN_CHARACTERS = 128 * 1024;

/** Takes the closed rows of all sections in slices by size. */
export class CheckpointSlices {
  readonly #source: CheckpointSource;
  readonly #sizes: StorageSizes;
  /**
   * Rows that were taken and are not in a slice yet. If small rows are followed by large ones, more
   * rows were requested than fit into a slice.
   */
  #taken: CheckpointRow[] = [];
  /** The size of the rows that were last requested. */
  #lastRequestCharacters = { rows: 0, characters: 0 };
  /** Of the frame that is not full yet. */
  #frameCharacters = 0;

  constructor(source: CheckpointSource, sizes: StorageSizes = DEFAULT_STORAGE_SIZES) {
    this.#source = source;
    this.#sizes = sizes;
  }

  take(): Slice {
    const { maxCheckpointFrameCharacters, onExceeded } = this.#sizes;
    const rows: string[] = [];
    let characters = 0;
    while (this.#taken.length > 0 || this.#requestRows()) {
      const isFull = this.#frameCharacters >= maxCheckpointFrameCharacters;
      if (isFull) {
        onExceeded?.('maxCheckpointFrameCharacters');
        this.#frameCharacters = 0;
      }
      if (isFull || characters >= MAX_TURN_CHARACTERS) return { rows, isLast: false, isFull };
      const text = formatRow(this.#taken.shift()!);
      this.#lastRequestCharacters.characters += text.length;
      characters += text.length;
      this.#frameCharacters += text.length;
      rows.push(text);
    }
    return { rows, isLast: true, isFull: false };
  }

  /** Takes about as many rows as are requested at a time. Returns whether there were any. */
  #requestRows(): boolean {
    const { rows, characters } = this.#lastRequestCharacters;
    const fit = Math.floor((MAX_REQUEST_CHARACTERS * rows) / Math.max(1, characters));
    const max = Math.min(
      this.#sizes.maxRequestedRows,
      rows === 0 ? INITIAL_ROWS : Math.max(1, fit),
    );
    for (const [name, section] of Object.entries(this.#source.sections)) {
      this.#taken = section
        .takeClosed(max)
        .map(([row, value]) => (value === undefined ? [name, row] : [name, row, value]));
      this.#lastRequestCharacters = { rows: this.#taken.length, characters: 0 };
      if (this.#taken.length === this.#sizes.maxRequestedRows)
        this.#sizes.onExceeded?.('maxRequestedRows');
      if (this.#taken.length > 0) return true;
    }
    return false;
  }
}
