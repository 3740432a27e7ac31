/**
 * Writes checkpoints of a running site, in slices. The last one and the rest of
 * the state are of one moment.
 */
import { crc32 } from 'node:zlib';
import type { CheckpointSource } from '../log/site-storage.ts';
import type { LogPositions } from '../log/recovered-state.ts';
import {
  formatCommit,
  formatHeader,
  formatRows,
  formatRow,
  type CheckpointRow,
} from './format/checkpoint-file.ts';
import type { Files, SyncedFile, Timing } from './disk/files.ts';
import { HEADER_BYTES, encodeFrame } from './format/frames.ts';
import {
  formatCheckpointCopyName,
  formatCheckpointName,
} from './format/file-names.ts';

/**
 * Where in the logs a checkpoint stands: it has the entries before `contained`;
 * the logs are kept from `kept` on.
 */
export interface CommitPositions {
  readonly contained: LogPositions;
  readonly retainedFrom: LogPositions;
}

export interface CheckpointerOptions {
  readonly files: Files;
  readonly timing: Timing;
  readonly directory: string;
  /** Number of the first file to write. */
  readonly number: number;
  readonly source: CheckpointSource;
  /** A checkpoint is on the disk, in the file with this number. */
  onDone(places: CommitPositions, file: number): void;
  /** It could not be written; nothing is lost, the logs only stay longer. */
  onFailed(error: Error): void;
}

/** A checkpoint file that stays as far as it was written, while it is held. */
export interface HeldCheckpoint {
  /** Its number, and the two files with the same bytes. */
  readonly number: number;
  readonly paths: readonly string[];
  /** Up to the end of a commit. */
  readonly bytes: number;
  release(): void;
}

/** Called once, with a checkpoint that was begun after it was asked for. */
type OnSnapshot = (error: Error | undefined, snapshot?: HeldCheckpoint) => void;

/**
 * A file is rewritten when it is longer than this, and longer than twice its
 * length after the last rewrite.
 */
const MIN_REWRITE_BYTES = 4 * 1024 * 1024;

interface CurrentFile {
  readonly number: number;
  readonly file: SyncedFile;
  position: number;
  frames: number;
  /** Checksum of the payloads so far. */
  sum: number;
  /** Length after its first checkpoint, which has everything; 0 before that. */
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
  /**
   * The callbacks that wait for the next checkpoint, and for the one that is in
   * flight.
   */
  #requests: OnSnapshot[] = [];
  #inFlight: OnSnapshot[] = [];
  #isFreshFileWanted = false;
  /** How often each file is held, and those that go once they are not. */
  readonly #held = new Map<number, number>();
  readonly #released = new Set<number>();

  /**
   * `replaced` is the number of the file that the first checkpoint takes the
   * place of.
   */
  constructor(options: CheckpointerOptions, replaced: number | undefined) {
    this.#options = options;
    this.#number = options.number;
    this.#slices = new CheckpointSlices(options.source);
    this.#outdated = replaced === undefined ? [] : [replaced];
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Begins a checkpoint, unless one is in flight. */
  start(): void {
    if (this.#isRunning || this.#isClosed) return;
    const { cutProblem } = this.#options.source;
    // Looked at first: all rows are written before the cut is asked for, and
    // would be each time that it is tried again.
    if (cutProblem !== undefined)
      return this.#endInFlight(this.#requests.splice(0), new Error(cutProblem));
    this.#isRunning = true;
    this.#inFlight = this.#requests.splice(0);
    this.#slices = new CheckpointSlices(this.#options.source);
    const current = this.#current;
    const maxBytes = Math.max(
      MIN_REWRITE_BYTES,
      2 * (current?.wholeBytes ?? 0),
    );
    if (
      current !== undefined &&
      current.position <= maxBytes &&
      !this.#isFreshFileWanted
    )
      return this.#slice(current);
    this.#isFreshFileWanted = false;
    this.#abandonFile();
    this.#begin();
  }

  /**
   * Makes a checkpoint and keeps its file until it is released; in a new file
   * where the one that there is will not do.
   */
  takeSnapshot(done: OnSnapshot, { isFreshFile = false } = {}): void {
    if (this.#isClosed) return done(new Error('the storage was closed'));
    this.#requests.push(done);
    this.#isFreshFileWanted ||= isFreshFile;
    this.start();
  }

  /** What was not committed by now never will be. */
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
      if (!this.#isClosed && this.#current !== undefined)
        this.#slice(this.#current);
    });
  }

  #slice(current: CurrentFile): void {
    try {
      const { rows, isLast } = this.#slices.take();
      if (!isLast)
        return this.#write(current, formatRows(rows), () => this.#nextSlice());
      // Nothing is left that has changed: the state of this moment.
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
      // For example of a row that is longer than any text may be.
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

  #onCommitted(current: CurrentFile, places: CommitPositions): void {
    if (current.wholeBytes === 0) current.wholeBytes = current.position;
    for (const number of this.#outdated.splice(0)) this.#remove(number);
    this.#isRunning = false;
    for (const done of this.#inFlight.splice(0))
      done(undefined, this.#hold(current.number, current.position));
    this.#options.onDone(places, current.number);
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
   * Changes were taken that are now on no disk: the next checkpoint has to have
   * everything.
   */
  #giveUp(error: Error): void {
    const current = this.#current;
    this.#abandonFile();
    // A file without a commit says nothing. One with a commit still is the last
    // checkpoint.
    if (current !== undefined && current.wholeBytes === 0) {
      this.#outdated.pop();
      this.#remove(current.number);
    }
    this.#isRunning = false;
    this.#endInFlight(
      [...this.#inFlight.splice(0), ...this.#requests.splice(0)],
      error,
    );
  }

  #endInFlight(waiting: readonly OnSnapshot[], error: Error): void {
    for (const done of waiting) done(error);
    this.#options.onFailed(error);
  }

  /** The file stays until another one takes its place. */
  #abandonFile(): void {
    if (this.#current === undefined) return;
    this.#current.file.close();
    this.#outdated.push(this.#current.number);
    this.#current = undefined;
  }

  #remove(number: number): void {
    if (this.#held.has(number)) return void this.#released.add(number);
    for (const path of getPaths(this.#options.directory, number))
      this.#options.files.remove(path);
  }
}

function getEarlier(a: LogPositions, b: LogPositions): LogPositions {
  return { local: Math.min(a.local, b.local), red: Math.min(a.red, b.red) };
}

/** A checkpoint lies in two files, each of which is enough. */
function getPaths(folder: string, number: number): readonly [string, string] {
  return [
    `${folder}/${formatCheckpointName(number)}`,
    `${folder}/${formatCheckpointCopyName(number)}`,
  ];
}

type OnCreated = (error: Error | undefined, file?: SyncedFile) => void;

/** Makes both files, empty. When it fails neither is left. */
function createMirrored(
  files: Files,
  [first, second]: readonly [string, string],
  done: OnCreated,
): void {
  files.create(first, 0, (error, item) => {
    if (item === undefined) return done(error);
    files.create(second, 0, (secondError, other) => {
      if (other !== undefined)
        return done(undefined, mirrorWrites(item, other));
      item.close();
      files.remove(first);
      done(secondError);
    });
  });
}

/** A write is done once both have it. */
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

/** Rows of one frame, as they stand in it. */
export interface Slice {
  readonly rows: readonly string[];
  /** Nothing is left that has changed. */
  readonly isLast: boolean;
}

const MAX_SLICE_CHARACTERS = 1024 * 1024;
const SLICE_GROWTH = 1.1;
/** Rows are asked for by so many: of large ones, by about so much. */
const MAX_ROWS = 500;
const INITIAL_ROWS = 8;
const MAX_REQUEST_CHARACTERS = 128 * 1024;

/**
 * Takes changed rows in slices by size. A slice grows with what changes
 * meanwhile, so that there soon is a last one.
 */
export class CheckpointSlices {
  readonly #source: CheckpointSource;
  #characters = MAX_SLICE_CHARACTERS;
  /**
   * Taken, and not in a slice yet: where small rows are followed by large ones,
   * far more was asked for than a slice bears.
   */
  #taken: CheckpointRow[] = [];
  /** What the rows that were asked for last amount to. */
  #lastRequestCharacters = { rows: 0, characters: 0 };
  #remainingRows = Infinity;
  #firstTaken = 0;

  constructor(source: CheckpointSource) {
    this.#source = source;
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
   * Takes of what has changed about as much as is asked for at a time; whether
   * there was any.
   */
  #requestRows(): boolean {
    const { rows, characters } = this.#lastRequestCharacters;
    const fit = Math.floor(
      (MAX_REQUEST_CHARACTERS * rows) / Math.max(1, characters),
    );
    const max =
      rows === 0 ? INITIAL_ROWS : Math.min(MAX_ROWS, Math.max(1, fit));
    for (const [name, section] of Object.entries(this.#source.sections)) {
      this.#taken = section
        .takeChanges(max)
        .map(([row, value]) =>
          value === undefined ? [name, row] : [name, row, value],
        );
      this.#lastRequestCharacters = { rows: this.#taken.length, characters: 0 };
      if (this.#taken.length > 0) return true;
    }
    return false;
  }

  #partial(rows: readonly string[]): Slice {
    let [left, firstTaken] = [this.#taken.length, 0];
    for (const section of Object.values(this.#source.sections)) {
      left += section.changeCount;
      firstTaken += section.initialRowsTaken ?? 0;
    }
    // What was taken for the first time is not among what was left: it says
    // nothing of how fast rows change.
    if (left - this.#remainingRows >= firstTaken - this.#firstTaken)
      this.#characters *= SLICE_GROWTH;
    this.#remainingRows = left;
    this.#firstTaken = firstTaken;
    return { rows, isLast: false };
  }
}
