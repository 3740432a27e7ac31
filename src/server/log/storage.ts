/** The port by which a site keeps the entries of a log. */

/** Where the entries of one log are kept. Nothing counts before it is synced. */
export interface LogStorage {
  /** Adds entries at the end. `onSynced` of the storage tells when they can no longer be lost. */
  append(entries: readonly unknown[]): void;
  /** Called with the number of entries that are synced, counted from the start of the log; it only grows. */
  onSynced: (length: number) => void;
  close(): Promise<void>;
}
