/** Storage in memory. */
import type { LogId } from '../log/log-id.ts';
import type { Term } from '../log/local-log.ts';
import { NOTHING_STORED, type StoredSite } from '../log/stored-site.ts';
import type { CheckpointSource, SiteStorage, StorageListener } from '../log/storage.ts';
import { VolatileLog } from './volatile-log.ts';

/** Keeps nothing: all is gone with the process. For demonstrations and tests. */
export class VolatileStorage implements SiteStorage {
  readonly stored: StoredSite = NOTHING_STORED;
  readonly term: Term;
  readonly isFull = false;
  readonly fullBecause = undefined;
  readonly isStuck = false;
  readonly #log: VolatileLog;
  #listener: StorageListener | undefined;

  /** @param term larger than at any earlier start, of which nothing is known here */
  constructor(term: Term) {
    this.#log = new VolatileLog(
      { term: term - 1, lengths: new Map() },
      {
        synced: (log, length) => this.#listener?.synced(log, length),
        fenced: (error) => this.#listener?.fenced(error),
        failed: (error) => this.#listener?.failed(error),
      },
    );
    this.term = this.#log.takeOver();
  }

  attach(_source: CheckpointSource, listener: StorageListener): void {
    this.#listener = listener;
  }

  isHeld(): boolean {
    return true;
  }

  append(log: LogId, entries: readonly unknown[]): void {
    this.#log.append(this.term, log, entries);
  }

  async close(): Promise<void> {}
}
