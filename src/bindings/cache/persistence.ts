/** Writes the changes of a cache behind its back: in order, one batch at a time, the last change of an entry only. */
import type { CacheEntry, CacheStore } from './store.ts';

export class Persistence {
  readonly #store: CacheStore;
  readonly #onError: (error: unknown) => void;
  #pending = new Map<string, CacheEntry | undefined>();
  #writing: Promise<void> | undefined;

  constructor(store: CacheStore, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /** What the store kept; nothing where it cannot be read, which is reported. */
  async load(): Promise<Iterable<readonly [string, CacheEntry]>> {
    try {
      return await this.#store.load();
    } catch (error) {
      this.#onError(error);
      return [];
    }
  }

  /** One entry costs that one alone: somebody else may have written it, or another version. */
  dropDamaged(id: string): void {
    this.#onError(new Error('cache: dropped an entry of its store that is no view'));
    this.change(id, undefined);
  }

  change(id: string, entry: CacheEntry | undefined): void {
    this.#pending.set(id, entry);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when what changed until now is in the store, or has failed to get there. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#store.close();
  }

  async #writeAll(): Promise<void> {
    // Changes made in one tick travel together.
    await Promise.resolve();
    while (this.#pending.size > 0) {
      const changes = [...this.#pending];
      this.#pending = new Map();
      try {
        await this.#store.write(changes);
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#writing = undefined;
  }
}
