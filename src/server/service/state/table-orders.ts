/** The orders of one table in a store: of its keys, its remembered removals, and its indexes. */
import type { SavedOrders, SavedRow } from '../records/checkpoint.ts';
import type { ResidentCache } from './resident-cache.ts';
import type { SavedTable } from './saved-names.ts';
import { StoredOrder } from './stored-order.ts';

export interface TableOrdersOptions {
  readonly table: string;
  readonly indexes: readonly string[];
  readonly saved: SavedTable;
  readonly cache: ResidentCache;
  readonly maxChunk?: number | undefined;
  /** How many entries the last commit has of each order. Unchecked if absent. */
  readonly orderSizes?: ReadonlyMap<string, number> | undefined;
}

export class TableOrders {
  readonly keys: StoredOrder;
  /** The remembered removals, so that a start finds them without a look at all rows. */
  readonly removals: StoredOrder;
  /** The orders by their names in the store. */
  readonly #orders = new Map<string, StoredOrder>();

  constructor(options: TableOrdersOptions, Order: typeof StoredOrder = StoredOrder) {
    const { table, saved, cache, maxChunk, orderSizes } = options;
    const add = (name: string): StoredOrder => {
      const order = new Order({
        description: `'${name}' of '${table}'`,
        saved: saved.getOrder(name),
        savedSize: orderSizes && (orderSizes.get(name) ?? 0),
        cache,
        maxChunk,
      });
      this.#orders.set(name, order);
      return order;
    };
    this.keys = add('keys');
    this.removals = add('removals');
    for (const field of options.indexes) add(nameIndex(field));
  }

  /** The number of entries of each order. */
  get sizes(): SavedOrders {
    return Object.fromEntries([...this.#orders].map(([name, { size }]) => [name, size]));
  }

  getIndex(field: string): StoredOrder {
    return this.#orders.get(nameIndex(field)) as StoredOrder;
  }

  /** About how many bytes the orders take in memory. */
  get bytes(): number {
    let bytes = 0;
    for (const order of this.#orders.values()) bytes += order.bytes;
    return bytes;
  }

  /** The bytes that cannot leave memory before a commit. */
  get dirtyBytes(): number {
    let bytes = 0;
    for (const order of this.#orders.values()) bytes += order.dirtyBytes;
    return bytes;
  }

  closeChanges(): void {
    for (const order of this.#orders.values()) order.closeChanges();
  }

  /** Takes up to `max` chunks and directories, with the names of their orders. */
  takeClosed(max: number): (readonly [order: string, row: SavedRow])[] {
    const taken: (readonly [string, SavedRow])[] = [];
    for (const [name, order] of this.#orders)
      for (const row of order.takeClosed(max - taken.length)) taken.push([name, row]);
    return taken;
  }

  onCommitted(saved: SavedTable): void {
    for (const [name, order] of this.#orders) order.onCommitted(saved.getOrder(name));
  }

  onCommitFailed(): void {
    for (const order of this.#orders.values()) order.onCommitFailed();
  }
}

/** Other names of orders have no such prefix. */
export function nameIndex(field: string): string {
  return `by.${field}`;
}
