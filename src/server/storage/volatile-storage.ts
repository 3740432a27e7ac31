/** Log storage in memory. */
import type { LogStorage } from '../log/storage.ts';

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
