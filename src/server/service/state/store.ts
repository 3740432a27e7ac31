/** The materialized state of one site: its stable snapshot, which only ever moves forward. */
import type { SavedRow, Section, SectionRows } from '../records/checkpoint.ts';
import type { Effect, Stamp } from '../records/effect.ts';
import type { Entry, ReadRange } from '../records/read-range.ts';
import { TableStore } from './table-store.ts';
import type { Tables } from '../tables.ts';
import type { Vector } from '../records/vector.ts';

/** The state on which generators can run: the store, or an overlay. */
export interface StateReader {
  read(table: string, key: string, field: string): unknown;
  has(table: string, key: string): boolean;
  /** The rows of an interval of one order, lazily; valid until the state changes. */
  scan(range: ReadRange, reverse: boolean): Iterable<Entry>;
}

export class Store implements StateReader, Section {
  /** The number of removals that were applied, or found at the start. */
  removalCount = 0;
  /** Called after each of them. */
  onRemoval: (() => void) | undefined;
  /** Called with each effect before it is applied. */
  onApply: ((effect: Effect, stamp: Stamp) => void) | undefined;
  readonly #tables = new Map<string, TableStore>();

  constructor(tables: Tables) {
    const countRemoval = (): void => {
      this.removalCount += 1;
      this.onRemoval?.();
    };
    for (const [name, table] of Object.entries(tables))
      this.#tables.set(name, new TableStore(name, table, countRemoval));
  }

  read(table: string, key: string, field: string): unknown {
    return this.#table(table).read(key, field);
  }

  has(table: string, key: string): boolean {
    return this.#table(table).has(key);
  }

  /**
   * Returns whether red operations alone ensure that the row exists, so that every later red
   * operation finds it.
   */
  existsByRed(table: string, key: string): boolean {
    return this.#table(table).existsByRed(key);
  }

  scan(range: ReadRange, reverse: boolean): Iterable<Entry> {
    return this.#table(range.table).scan(range, reverse);
  }

  apply(effect: Effect, stamp: Stamp): unknown {
    this.onApply?.(effect, stamp);
    return this.#table(effect.table).apply(effect, stamp);
  }

  /** About how many bytes the rows take in memory. It follows from them alone. */
  get bytes(): number {
    let bytes = 0;
    for (const table of this.#tables.values()) bytes += table.bytes;
    return bytes;
  }

  /** Returns the same by table, the largest one first. */
  measureTables(): readonly (readonly [table: string, bytes: number])[] {
    const sizes = [...this.#tables].map(([name, { bytes }]) => [name, bytes] as const);
    return sizes.toSorted(([, a], [, b]) => b - a);
  }

  /** Forgets the removals that every later operation has seen. */
  forgetRemovals(covered: Vector): void {
    for (const table of this.#tables.values()) table.forgetRemovals(covered);
  }

  /** Everything as plain data, equal at two sites exactly when they have converged. */
  snapshot(): unknown {
    return [...this.#tables].map(([name, table]) => [name, table.snapshot()]);
  }

  /** Returns the part of `snapshot` that is about one row. The row must exist. */
  snapshotRow(table: string, key: string): unknown {
    return this.#table(table).snapshotRow(key);
  }

  /** About how many bytes of memory that snapshot is made of, so how long it takes. */
  measureRow(table: string, key: string): number {
    return this.#table(table).measureRow(key);
  }

  /** Returns the remembered removals as plain data, which `snapshot` leaves out. */
  getRemovalTimes(): unknown {
    return [...this.#tables].map(([name, table]) => [name, table.getRemovalTimes()]);
  }

  changeAll(): void {
    for (const { changes, parts } of this.#tables.values()) {
      changes.changeAll();
      parts.changes.changeAll();
    }
  }

  closeChanges(): void {
    for (const { changes, parts } of this.#tables.values()) {
      changes.closeChanges();
      parts.changes.closeChanges();
    }
  }

  takeClosed(max: number): SavedRow[] {
    const rows: SavedRow[] = [];
    for (const [name, { changes, parts }] of this.#tables) {
      for (const [key, saved] of changes.takeClosed(max - rows.length))
        rows.push([formatSavedName(name, key), saved]);
      for (const [part, saved] of parts.changes.takeClosed(max - rows.length))
        rows.push([formatSavedName(PARTS, formatSavedName(name, part)), saved]);
    }
    return rows;
  }

  restore(rows: SectionRows): void {
    const parts = new Map<string, SavedRow[]>([...this.#tables.keys()].map((name) => [name, []]));
    for (const [name, saved] of rows) {
      rows.delete(name);
      const [table, key] = parseSavedName(name);
      if (table !== PARTS) this.#table(table).restore(key, saved);
      else {
        const [owner, part] = parseSavedName(key);
        parts.get(owner)?.push([part, saved]);
      }
    }
    for (const [name, saved] of parts) this.#table(name).parts.restore(saved);
  }

  #table(name: string): TableStore {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`no table '${name}': sites run different services`);
    return table;
  }
}

const SEPARATOR = '\u0000';

/** The table name of saved parts. It is empty, so no table can have it. */
const PARTS = '';

function formatSavedName(table: string, key: string): string {
  return table + SEPARATOR + key;
}

/** Names of tables have no separator in them; keys may. */
function parseSavedName(name: string): readonly [table: string, key: string] {
  const end = name.indexOf(SEPARATOR);
  return [name.slice(0, end), name.slice(end + 1)];
}
