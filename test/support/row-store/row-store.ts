/**
 * The port for a store of rows, which makes a batch of changes durable as a whole. It knows no
 * order of keys: entries are found by their keys alone.
 */

/** Any bytes. Entries of one store have different ones. */
export type EntryKey = Uint8Array;

/** The changes of one commit. A key stands in it once. */
export interface RowBatch {
  readonly puts: readonly (readonly [key: EntryKey, value: Uint8Array])[];
  readonly removals: readonly EntryKey[];
}

export interface RowReader {
  /** Returns the value of an entry; `undefined` if there is none. */
  get(key: EntryKey): Uint8Array | undefined;
}

export interface RowSnapshot extends RowReader {
  /** To be called once. Reads nothing after that. */
  close(): void;
}

/** Reads show the last commit that is visible. */
export interface RowStore extends RowReader {
  /**
   * Commits a batch. It becomes visible as a whole, at any time before `done`. It is synced once
   * `done` is called without an error: no crash loses it after that. With an error nothing of it is
   * visible, now or after a crash. The batch must not change before `done`. One commit at a time.
   */
  commit(batch: RowBatch, done: (error: Error | undefined) => void): void;
  /** Opens the state that is visible now, whatever is committed later. */
  openSnapshot(): RowSnapshot;
  /**
   * Closes the store. `done` of a commit in flight is not called any more. It can be opened again
   * once the promise resolves.
   */
  close(): Promise<void>;
}
