/** Commits changes that are all there at once. */
import type { EntryKey, RowStore } from '../../src/server/node/storage/rows/row-store.ts';

export interface BatchChanges {
  readonly puts: readonly (readonly [key: EntryKey, value: Uint8Array])[];
  readonly removals: readonly EntryKey[];
}

/** Begins a commit of the changes. */
export function startCommit(
  store: RowStore,
  { puts, removals }: BatchChanges,
  done: (error: Error | undefined) => void,
): void {
  const batch = store.createBatch();
  for (const [key, value] of puts) batch.put(key, value);
  for (const key of removals) batch.remove(key);
  batch.commit(done);
}

/** Commits the changes, and waits until they are synced. */
export function commit(store: RowStore, changes: BatchChanges): Promise<void> {
  return new Promise((done, fail) =>
    startCommit(store, changes, (error) => (error === undefined ? done() : fail(error))),
  );
}
