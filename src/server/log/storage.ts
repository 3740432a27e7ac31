/** The port by which a site keeps the entries of a log, and its first implementation. */

/** Where the entries of one log are kept. Nothing counts before it is synced. */
export interface LogStorage {
  /** Adds entries at the end. `onSynced` of the storage tells when they can no longer be lost. */
  append(entries: readonly unknown[]): void;
  /** Called with the number of entries that are synced, counted from the start of the log; it only grows. */
  onSynced: (length: number) => void;
  close(): Promise<void>;
}

/**
 * Keeps nothing: an entry counts as synced at once, and all are gone with the process. For demonstrations and tests.
 * The whole of one turn is reported together, as a disk would.
 */
export class VolatileStorage implements LogStorage {
  onSynced: (length: number) => void = () => {};
  #length = 0;
  #scheduled = false;

  append(entries: readonly unknown[]): void {
    this.#length += entries.length;
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.onSynced(this.#length);
    });
  }

  async close(): Promise<void> {}
}
