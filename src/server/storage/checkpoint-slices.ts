/** Takes changed rows in slices by size. A slice grows with what changes meanwhile, so that there soon is a last one. */
import type { CheckpointSource } from '../log/site-storage.ts';
import { formatRow, type CheckpointRow } from './format/checkpoint-file.ts';

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

export class CheckpointSlices {
  readonly #source: CheckpointSource;
  #characters = MAX_SLICE_CHARACTERS;
  /** Taken, and not in a slice yet: where small rows are followed by large ones, far more was asked for than a slice bears. */
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

  /** Takes of what has changed about as much as is asked for at a time; whether there was any. */
  #requestRows(): boolean {
    const { rows, characters } = this.#lastRequestCharacters;
    const fit = Math.floor((MAX_REQUEST_CHARACTERS * rows) / Math.max(1, characters));
    const max = rows === 0 ? INITIAL_ROWS : Math.min(MAX_ROWS, Math.max(1, fit));
    for (const [name, section] of Object.entries(this.#source.sections)) {
      this.#taken = section
        .takeChanges(max)
        .map(([row, value]) => (value === undefined ? [name, row] : [name, row, value]));
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
    // What was taken for the first time is not among what was left: it says nothing of how fast rows change.
    if (left - this.#remainingRows >= firstTaken - this.#firstTaken) this.#characters *= SLICE_GROWTH;
    this.#remainingRows = left;
    this.#firstTaken = firstTaken;
    return { rows, isLast: false };
  }
}
