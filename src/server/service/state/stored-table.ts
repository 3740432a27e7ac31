/** What a table has that reads its rows from a store: the rows in memory, and the orders. */
import { RowChanges } from '../records/checkpoint.ts';
import type { SavedTable } from './saved-names.ts';
import { PagedRows, type PagedRowsHost } from './paged-rows.ts';
import { StoredOrder } from './stored-order.ts';
import { TableOrders, type TableOrdersOptions } from './table-orders.ts';

/** The classes of the parts of a table. Tests replace some. */
export const STATE_PARTS = { RowChanges, PagedRows, StoredOrder };

export interface StoredTableOptions extends TableOrdersOptions {
  readonly parts: typeof STATE_PARTS;
}

export class StoredTable {
  readonly rows: PagedRows;
  readonly orders: TableOrders;
  #saved: SavedTable;

  constructor(options: StoredTableOptions, rows: Omit<PagedRowsHost, 'cache'>) {
    const { saved, cache, parts } = options;
    this.#saved = saved;
    this.rows = new parts.PagedRows({ ...rows, cache });
    this.orders = new TableOrders(options, parts.StoredOrder);
  }

  get saved(): SavedTable {
    return this.#saved;
  }

  /** @param rowBytes of all rows in memory */
  closeChanges(rowBytes: number): void {
    this.rows.closeChanges(rowBytes);
    this.orders.closeChanges();
  }

  onCommitted(saved: SavedTable): void {
    this.#saved = saved;
    this.rows.onCommitted();
    this.orders.onCommitted(saved);
  }

  onCommitFailed(): void {
    this.rows.onCommitFailed();
    this.orders.onCommitFailed();
  }
}
