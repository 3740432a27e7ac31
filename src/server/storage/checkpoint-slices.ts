/**
 * Takes the rows that have changed in slices that a site can bear between two operations: by what they amount to, since
 * rows may be of a few bytes or of megabytes. A slice is longer than the one before it where more has changed meanwhile
 * than it took, so that it soon ends however fast rows change.
 */
import type { CheckpointSource } from '../log/storage.ts';
import { rowText } from './checkpoint-file.ts';

/** Rows of one frame, as they stand in it. */
export interface Slice {
  readonly rows: readonly string[];
  /** Nothing is left that has changed. */
  readonly isLast: boolean;
}

const SLICE_CHARACTERS = 1024 * 1024;
const SLICE_GROWTH = 1.1;
/** Rows are asked for by so many: of large ones, by about so much. */
const ROWS_MAX = 500;
const ROWS_AT_FIRST = 8;
const ASK_CHARACTERS = 128 * 1024;

/** The slices of one checkpoint. */
export class CheckpointSlices {
  readonly #source: CheckpointSource;
  #characters = SLICE_CHARACTERS;
  #askRows = ROWS_AT_FIRST;
  #left = Infinity;
  #firstTaken = 0;

  constructor(source: CheckpointSource) {
    this.#source = source;
  }

  /** The next one. */
  take(): Slice {
    const rows: string[] = [];
    let characters = 0;
    for (const [name, section] of Object.entries(this.#source.sections)) {
      for (;;) {
        if (characters >= this.#characters) return this.#partial(rows);
        const asked = this.#askRows;
        const taken = section.takeChanges(asked);
        let takenCharacters = 0;
        for (const [row, value] of taken) {
          const text = rowText(value === undefined ? [name, row] : [name, row, value]);
          takenCharacters += text.length;
          rows.push(text);
        }
        characters += takenCharacters;
        if (taken.length < asked) break;
        const rowCharacters = Math.max(1, takenCharacters / taken.length);
        this.#askRows = Math.min(ROWS_MAX, Math.max(1, Math.floor(ASK_CHARACTERS / rowCharacters)));
      }
    }
    return { rows, isLast: true };
  }

  #partial(rows: readonly string[]): Slice {
    let [left, firstTaken] = [0, 0];
    for (const section of Object.values(this.#source.sections)) {
      left += section.changes;
      firstTaken += section.firstTaken ?? 0;
    }
    // What was taken for the first time is not among what was left: it says nothing of how fast rows change.
    if (left - this.#left >= firstTaken - this.#firstTaken) this.#characters *= SLICE_GROWTH;
    this.#left = left;
    this.#firstTaken = firstTaken;
    return { rows, isLast: false };
  }
}
