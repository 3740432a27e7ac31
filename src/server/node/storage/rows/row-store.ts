/**
 * The port for a store of rows, which makes a batch of changes durable as a whole. It knows no
 * order of keys: entries are found by their keys alone.
 */

/** Any bytes. Entries of one store have different ones. */
export type EntryKey = Uint8Array;

/**
 * The changes of one commit. A key stands in it once. The store takes over each change at once: all
 * changes of a large commit on the heap would make the garbage collector pause for long.
 */
export interface RowBatch {
  put(key: EntryKey, value: Uint8Array): void;
  remove(key: EntryKey): void;
  /**
   * Commits the batch, as its last call. It becomes visible as a whole, at any time before `done`.
   * It is synced once `done` is called without an error: no crash loses it after that. With an
   * error nothing of it is visible, now or after a crash. One commit at a time.
   */
  commit(done: (error: Error | undefined) => void): void;
  /** Ends a batch that is not committed. */
  discard(): void;
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
  createBatch(): RowBatch;
  /** Opens the state that is visible now, whatever is committed later. */
  openSnapshot(): RowSnapshot;
  /**
   * Closes the store. `done` of a commit in flight is not called any more. It can be opened again
   * once the promise resolves.
   */
  close(): Promise<void>;
}

/** The stores of rows in the folders of a directory. */
export interface RowStores {
  /** Opens the store in a folder, which is created if it does not exist. */
  open(folder: string, done: (error: Error | undefined, store?: RowStore) => void): void;
  /** Removes the store in a folder, which is not open, with all that it has. */
  remove(folder: string, done: (error: Error | undefined) => void): void;
}
