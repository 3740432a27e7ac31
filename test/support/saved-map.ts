/** What a store has of a section, in memory and as it is on a disk. */
import type {
  SavedRow,
  SavedSection,
  SavedTables,
} from '../../src/server/service/records/checkpoint.ts';
import { decodeValue, encodeValue } from '../../src/server/node/storage/format/value-text.ts';

/** The rows of one commit. It does not change. */
export class SavedMap implements SavedSection {
  readonly tables: SavedTables | undefined;
  readonly #rows: ReadonlyMap<string, string>;
  #reads = 0;

  constructor(rows: ReadonlyMap<string, string> = new Map(), tables?: SavedTables) {
    this.#rows = rows;
    this.tables = tables;
  }

  get names(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /** The number of rows that were read. */
  get reads(): number {
    return this.#reads;
  }

  get(name: string): unknown {
    this.#reads += 1;
    const text = this.#rows.get(name);
    return text === undefined ? undefined : decodeValue(text);
  }

  reportDamage(problem: string): never {
    throw new Error(problem);
  }

  /** Returns what a commit of the changed rows makes of it, with the orders as they are then. */
  after(changed: readonly SavedRow[], tables?: SavedTables): SavedMap {
    const rows = new Map(this.#rows);
    for (const [name, value] of changed) {
      if (value === undefined) rows.delete(name);
      else rows.set(name, encodeValue(value));
    }
    return new SavedMap(rows, tables);
  }

  /** Returns it without one row, as of a disk that says nothing of it. */
  without(name: string): SavedMap {
    const rows = new Map(this.#rows);
    rows.delete(name);
    return new SavedMap(rows, this.tables);
  }
}
