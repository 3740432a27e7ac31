/** The materialized state of one site: its stable snapshot, which only ever moves forward. */
import type {
  SavedRow,
  SavedRows,
  SavedSection,
  SavedTables,
  SectionRows,
  StoredSection,
} from '../records/checkpoint.ts';
import type { Effect, Stamp } from '../records/effect.ts';
import type { Entry, ReadRange } from '../records/read-range.ts';
import { ResidentCache } from './resident-cache.ts';
import {
  formatChunkName,
  formatPartName,
  formatRowName,
  getSavedTable,
  parseSavedName,
} from './saved-names.ts';
import { STATE_PARTS } from './stored-table.ts';
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

const DEFAULT_CACHE_BYTES = 2 ** 26;

export interface OpenOptions {
  /**
   * Beyond so many bytes, rows and chunks of orders leave memory that have not changed since the
   * last commit. Default: 64 MiB
   */
  readonly cacheBytes?: number | undefined;
  /** A chunk of an order that would have more entries is split. Default: 512 */
  readonly maxChunk?: number;
}

/** All rows are in memory, unless it is opened with a store that has them. */
export class Store implements StateReader, StoredSection {
  /** The number of removals that were applied, or found at the start. */
  removalCount = 0;
  /** Called after each of them. */
  onRemoval: (() => void) | undefined;
  /** Called with each effect before it is applied. */
  onApply: ((effect: Effect, stamp: Stamp) => void) | undefined;
  readonly #tables = new Map<string, TableStore>();
  #cache: ResidentCache | undefined;
  #damage: Error | undefined;

  constructor(tables: Tables, parts: typeof STATE_PARTS = STATE_PARTS) {
    const countRemoval = (): void => {
      this.removalCount += 1;
      this.onRemoval?.();
    };
    for (const [name, table] of Object.entries(tables))
      this.#tables.set(name, new TableStore(name, table, countRemoval, parts));
  }

  open(saved: SavedSection, options: OpenOptions = {}): void {
    const { cacheBytes = DEFAULT_CACHE_BYTES, maxChunk } = options;
    const cache = new ResidentCache(cacheBytes);
    this.#cache = cache;
    const sizes = saved.tables && new Map(Object.entries(saved.tables));
    const guarded = this.#guard(saved);
    for (const [name, table] of this.#tables) {
      const orderSizes = sizes && new Map(Object.entries(sizes.get(name) ?? {}));
      table.open(getSavedTable(guarded, name), { cache, maxChunk, orderSizes });
    }
  }

  /**
   * What a read has found to be damaged. The read has thrown it, but a generator may have caught
   * that. So the site asks before it answers: nothing that was read since can be trusted.
   */
  get damage(): Error | undefined {
    return this.#damage;
  }

  /** Notes damage that reads find. */
  #guard(saved: SavedRows): SavedRows {
    const note = <T>(read: () => T): T => {
      try {
        return read();
      } catch (error) {
        this.#damage ??= error as Error;
        throw error;
      }
    };
    return {
      get: (name) => note(() => saved.get(name)),
      reportDamage: (problem) => note(() => saved.reportDamage(problem)),
    };
  }

  get isOpen(): boolean {
    return this.#cache !== undefined;
  }

  get savedTables(): SavedTables {
    return Object.fromEntries(
      [...this.#tables].map(([name, { orderSizes }]) => [name, orderSizes]),
    );
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

  /**
   * About how many bytes the rows take in memory, with their orders. It follows from the rows
   * alone, unless they may leave memory.
   */
  get bytes(): number {
    let bytes = 0;
    for (const table of this.#tables.values()) bytes += table.bytes;
    return bytes;
  }

  /** How many of them a start needs. */
  get bytesAtStart(): number {
    let bytes = 0;
    for (const table of this.#tables.values()) bytes += table.bytesAtStart;
    return bytes;
  }

  /** The bytes that cannot leave memory before a commit. */
  get dirtyBytes(): number {
    let bytes = 0;
    for (const table of this.#tables.values()) bytes += table.dirtyBytes;
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
    for (const table of this.#tables.values()) table.closeChanges();
  }

  takeClosed(max: number): SavedRow[] {
    const rows: SavedRow[] = [];
    for (const [name, table] of this.#tables) {
      const { changes, parts } = table;
      for (const [key, saved] of changes.takeClosed(max - rows.length))
        rows.push([formatRowName(name, key), saved]);
      for (const [part, saved] of parts.changes.takeClosed(max - rows.length))
        rows.push([formatPartName(name, part), saved]);
      for (const [order, [chunk, saved]] of table.takeClosedOrders(max - rows.length))
        rows.push([formatChunkName(name, order, chunk), saved]);
    }
    return rows;
  }

  onCommitted(saved: SavedRows): void {
    const guarded = this.#guard(saved);
    for (const [name, table] of this.#tables) table.onCommitted(getSavedTable(guarded, name));
    this.#cache?.onCommitted();
  }

  onCommitFailed(): void {
    for (const table of this.#tables.values()) table.onCommitFailed();
  }

  restore(rows: SectionRows): void {
    const parts = new Map<string, SavedRow[]>([...this.#tables.keys()].map((name) => [name, []]));
    for (const [name, saved] of rows) {
      rows.delete(name);
      const item = parseSavedName(name);
      if (item.kind === 'row') this.#table(item.table).restore(item.key, saved);
      else parts.get(item.table)?.push([item.part, saved]);
    }
    for (const [name, saved] of parts) this.#table(name).parts.restore(saved);
  }

  #table(name: string): TableStore {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`no table '${name}': sites run different services`);
    return table;
  }
}
