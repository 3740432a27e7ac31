/** Storage in memory. */
import { NOTHING_STORED } from '../log/stored-site.ts';
import type { SiteLogName, StoredSite } from '../log/stored-site.ts';
import type { CheckpointSource, SiteStorage, StorageListener } from '../log/storage.ts';

/**
 * Keeps nothing: an entry counts as synced at once, and all are gone with the process. For demonstrations and tests.
 * The whole of one turn is reported together, as a disk would.
 */
export class VolatileStorage implements SiteStorage {
  readonly stored: StoredSite = NOTHING_STORED;
  readonly epoch: number;
  readonly isFull = false;
  readonly fullBecause = undefined;
  readonly isStuck = false;
  readonly #lengths: Record<SiteLogName, number> = { local: 0, red: 0 };
  readonly #grown = new Set<SiteLogName>();
  #listener: StorageListener | undefined;

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  attach(_source: CheckpointSource, listener: StorageListener): void {
    this.#listener = listener;
  }

  isHeld(): boolean {
    return true;
  }

  append(log: SiteLogName, entries: readonly unknown[]): void {
    this.#lengths[log] += entries.length;
    if (this.#grown.size === 0) queueMicrotask(() => this.#report());
    this.#grown.add(log);
  }

  async close(): Promise<void> {}

  #report(): void {
    const grown = [...this.#grown];
    this.#grown.clear();
    for (const log of grown) this.#listener?.synced(log, this.#lengths[log]);
  }
}
