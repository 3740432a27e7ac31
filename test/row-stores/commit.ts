/** Commits a batch, and waits until it is synced. */
import type { RowBatch, RowStore } from '../support/row-store/row-store.ts';

export function commit(store: RowStore, batch: RowBatch): Promise<void> {
  return new Promise((done, fail) =>
    store.commit(batch, (error) => (error === undefined ? done() : fail(error))),
  );
}
