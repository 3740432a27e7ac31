/**
 * Storage for cached views that outlive the process: a small interface with one implementation for
 * each platform.
 */

/** The cache that wrote an entry, and the store's transaction that wrote it. */
export interface WriteStamp {
  /** The ID of the cache, which changes with each reload. */
  readonly cacheId: string;
  /** The number of the transaction, from 1. */
  readonly seq: number;
}

/**
 * One cached view, as it is stored: plain data that `structuredClone` accepts. A Node `Buffer` may
 * come back as an equal `Uint8Array`. If a store rejects a view that it cannot keep, the view stays
 * in memory.
 */
export interface CacheEntry {
  readonly value: unknown;
  /** The level at which the store behind the cache returned the view. */
  readonly level: string;
  readonly version?: unknown;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** When the view was cached, in milliseconds since the epoch. */
  readonly cachedAt: number;
  /** The objects that the view depends on; `undefined` if it may depend on any. */
  readonly touches: readonly string[] | undefined;
  readonly stamp?: WriteStamp;
}

export function isCacheEntry(found: unknown): found is CacheEntry {
  if (typeof found !== 'object' || found === null) return false;
  const { level, cachedAt, touches, meta } = found as Partial<Record<keyof CacheEntry, unknown>>;
  const areTouches =
    touches === undefined ||
    (Array.isArray(touches) && touches.every((key) => typeof key === 'string'));
  const isMeta = meta === undefined || (typeof meta === 'object' && meta !== null);
  return typeof level === 'string' && Number.isFinite(cachedAt) && areTouches && isMeta;
}

/** A change to an entry: an entry that replaces the stored one, or `undefined` to remove it. */
export type CacheChange = readonly [id: string, entry: CacheEntry | undefined];

/**
 * Returns what to write instead of some changes, given the entries stored under their ids. It
 * changes nothing itself, so a store may retry the transaction.
 */
export type Transact = (found: ReadonlyMap<string, CacheEntry>) => readonly CacheChange[];

/** How a store is to write. */
export interface WriteOptions {
  /**
   * Whether the changes must survive a power failure once the promise has resolved. They hide views
   * from before an update, a `clear` or an `invalidate`. Default: false
   */
  readonly isDurable?: boolean | undefined;
}

/** One cache's connection to the other caches on its store. */
export interface CacheSubscription {
  /** Sends plain data to all other caches. */
  publish(notice: unknown): void;
  close(): void;
}

/**
 * Durable storage of a cache. The cache reads it at opening and writes to it in the background. It
 * answers from memory, within its limits, and waits at most 1 000 ms for a call of the store.
 *
 * If only one cache at a time uses your store, you need just three methods:
 *
 * @example
 * const rows = new Map<string, CacheEntry>(await readAll());
 * const store: CacheStore = {
 *   load: async () => rows,
 *   write: async (changes) => {
 *     for (const [id, entry] of changes)
 *       entry === undefined ? rows.delete(id) : rows.set(id, entry);
 *     await saveAll(rows);
 *   },
 *   close: async () => {},
 * };
 */
export interface CacheStore {
  /**
   * Returns every entry as of one moment, least recently used first if the store knows. Called
   * before `write`.
   */
  load(): Promise<Iterable<readonly [id: string, entry: CacheEntry]>>;
  /**
   * Applies all changes or none. The cache waits until a call has ended before it makes the next
   * one. If several caches share the store, such as pages of one site, use one transaction. In it,
   * read what is stored under the ids of `changes`, and write what `settle` returns for it.
   * Otherwise one page could replace newer entries with older ones.
   *
   * After a failed call, the cache calls `close` before the next one. If other caches keep your
   * store open after `close`, it must itself reopen a database that may acknowledge a write and
   * lose it.
   */
  write(changes: readonly CacheChange[], settle?: Transact, options?: WriteOptions): Promise<void>;
  /**
   * Calls `onNotice` with each notice that another cache publishes. You need it if several caches
   * share the store.
   */
  subscribe?(onNotice: (notice: unknown) => void): CacheSubscription;
  /**
   * Releases the resources of the store, except those that other connected caches still need. A
   * later call of `load` or `write` opens it again, for example when a user signs out after
   * closing.
   */
  close(): Promise<void>;
}

/**
 * The caches of one process that use one store at a time. A notice of one cache reaches all others.
 */
export class StoreSubscribers {
  readonly #listeners = new Set<(notice: unknown) => void>();

  get count(): number {
    return this.#listeners.size;
  }

  subscribe(onNotice: (notice: unknown) => void): CacheSubscription {
    const listeners = this.#listeners;
    listeners.add(onNotice);
    return {
      publish: (notice) => {
        for (const other of listeners) if (other !== onNotice) queueMicrotask(() => other(notice));
      },
      close: () => void listeners.delete(onNotice),
    };
  }
}

/**
 * Creates a store in a `Map`, for tests and for a cache that outlives the clients of one process.
 *
 * @example
 * const store = mapStore();
 * const before = cached(binding, { store });
 * await before.close();
 * const after = cached(anotherBinding, { store }); // starts with what `before` had
 */
export function mapStore(): CacheStore {
  const entries = new Map<string, CacheEntry>();
  const neighbors = new StoreSubscribers();
  return {
    load: async () => [...entries],
    write: async (changes, settle) => {
      for (const [id, entry] of settle?.(entries) ?? changes) {
        entries.delete(id);
        if (entry !== undefined) entries.set(id, entry);
      }
    },
    subscribe: (onNotice) => neighbors.subscribe(onNotice),
    close: async () => {},
  };
}
