/** What a table has that reads its rows from a store: the rows in memory, and the orders. */
import { RowChanges, type SavedRow } from '../records/checkpoint.ts';
import type { SavedTable } from './saved-names.ts';
import { PagedRows, type PagedRowsHost } from './paged-rows.ts';
import type { ResidentCache } from './resident-cache.ts';
import { StoredOrder } from './stored-order.ts';

/** The classes of the parts of a table. Tests replace some. */
export const STATE_PARTS = { RowChanges, PagedRows, StoredOrder };

export interface StoredTableOptions {
  readonly table: string;
  readonly indexes: readonly string[];
  readonly saved: SavedTable;
  readonly cache: ResidentCache;
  readonly maxChunk: number;
  readonly parts: typeof STATE_PARTS;
}

export class StoredTable {
  readonly rows: PagedRows;
  readonly keys: StoredOrder;
  /** The remembered removals, so that a start finds them without a look at all rows. */
  readonly removals: StoredOrder;
  /** The orders by their names in the store. */
  readonly #orders = new Map<string, StoredOrder>();
  #saved: SavedTable;

  constructor(options: StoredTableOptions, rows: Omit<PagedRowsHost, 'cache'>) {
    const { saved, cache, parts, indexes } = options;
    this.#saved = saved;
    this.rows = new parts.PagedRows({ ...rows, cache });
    this.keys = this.#addOrder('keys', options);
    this.removals = this.#addOrder('removals', options);
    for (const field of indexes) this.#addOrder(nameIndex(field), options);
  }

  get saved(): SavedTable {
    return this.#saved;
  }

  getIndex(field: string): StoredOrder {
    return this.#orders.get(nameIndex(field)) as StoredOrder;
  }

  /** About how many bytes the orders take in memory. */
  get orderBytes(): number {
    let bytes = 0;
    for (const order of this.#orders.values()) bytes += order.bytes;
    return bytes;
  }

  /** The bytes of orders that cannot leave memory before a commit. */
  get dirtyOrderBytes(): number {
    let bytes = 0;
    for (const order of this.#orders.values()) bytes += order.dirtyBytes;
    return bytes;
  }

  /** @param rowBytes of all rows in memory */
  closeChanges(rowBytes: number): void {
    this.rows.closeChanges(rowBytes);
    for (const order of this.#orders.values()) order.closeChanges();
  }

  /** Takes up to `max` chunks and directories of orders, with the names of the orders. */
  takeClosed(max: number): (readonly [order: string, row: SavedRow])[] {
    const taken: (readonly [string, SavedRow])[] = [];
    for (const [name, order] of this.#orders)
      for (const row of order.takeClosed(max - taken.length)) taken.push([name, row]);
    return taken;
  }

  onCommitted(saved: SavedTable): void {
    this.#saved = saved;
    this.rows.onCommitted();
    for (const [name, order] of this.#orders) order.onCommitted(saved.getOrder(name));
  }

  onCommitFailed(): void {
    this.rows.onCommitFailed();
    for (const order of this.#orders.values()) order.onCommitFailed();
  }

  #addOrder(
    name: string,
    { table, saved, cache, maxChunk, parts }: StoredTableOptions,
  ): StoredOrder {
    const description = `'${name}' of '${table}'`;
    const order = new parts.StoredOrder({
      description,
      saved: saved.getOrder(name),
      cache,
      maxChunk,
    });
    this.#orders.set(name, order);
    return order;
  }
}

/** Other names of orders have no such prefix. */
function nameIndex(field: string): string {
  return `by.${field}`;
}
