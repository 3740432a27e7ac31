/** Where cached views outlive the process: a small interface with one implementation a platform. */

/** Which of the caches on a store wrote something, and in which of the store's transactions. */
export interface WriteStamp {
  /** The cache: another one after each reload. */
  readonly cacheId: string;
  /** The number of the transaction, from 1. */
  readonly seq: number;
}

/**
 * One cached view, as it is stored. Plain data that `structuredClone` accepts; a `Buffer` of Node's may come back as a
 * `Uint8Array`, which is equal to it. A store may refuse what it cannot keep: the view stays in memory.
 */
export interface CacheEntry {
  readonly value: unknown;
  /** The level at which the store behind gave the view. */
  readonly level: string;
  readonly version?: unknown;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** When it was cached, in milliseconds since the epoch. */
  readonly cachedAt: number;
  /** The objects that the view depends on; `undefined` if it may depend on any. */
  readonly touches: readonly string[] | undefined;
  readonly stamp?: WriteStamp;
}

/** Whether what a store gives is an entry. */
export function isCacheEntry(found: unknown): found is CacheEntry {
  if (typeof found !== 'object' || found === null) return false;
  const { level, cachedAt, touches, meta } = found as Partial<Record<keyof CacheEntry, unknown>>;
  const areTouches =
    touches === undefined || (Array.isArray(touches) && touches.every((key) => typeof key === 'string'));
  const isMeta = meta === undefined || (typeof meta === 'object' && meta !== null);
  return typeof level === 'string' && Number.isFinite(cachedAt) && areTouches && isMeta;
}

/** A change to apply: an entry to put in the place of what was there, or `undefined` to remove it. */
export type CacheChange = readonly [id: string, entry: CacheEntry | undefined];

/**
 * Says what to write instead of some changes, from what is stored under their ids. It changes nothing itself, so that a
 * transaction may be tried again.
 */
export type Transact = (found: ReadonlyMap<string, CacheEntry>) => readonly CacheChange[];

/** One cache's way to the others on its store. */
export interface CacheSubscription {
  /** Hands plain data to all others. */
  publish(notice: unknown): void;
  close(): void;
}

/**
 * Durable home of a cache. It is read at opening and written behind: the cache itself answers from memory, within its
 * bounds, and waits for the store no longer than it says in its options.
 *
 * Where one cache at a time uses a store, three methods are all there is to write:
 *
 * @example
 * const rows = new Map<string, CacheEntry>(await readAll());
 * const store: CacheStore = {
 *   load: async () => rows,
 *   write: async (changes) => {
 *     for (const [id, entry] of changes) entry === undefined ? rows.delete(id) : rows.set(id, entry);
 *     await saveAll(rows);
 *   },
 *   close: async () => {},
 * };
 */
export interface CacheStore {
  /** Every entry as of one moment, those used longest ago first where the store knows. Called before `write`. */
  load(): Promise<Iterable<readonly [id: string, entry: CacheEntry]>>;
  /**
   * Applies all changes or none. Called again only when the call before has ended. A store that several caches use at a
   * time, as pages of one site do, reads what is there under the ids of `changes`, and writes what `settle` makes of it
   * instead of them, all in one transaction: else one page would write what is older over what is newer.
   *
   * After a failed call the cache calls `close` before the next one. A store whose `close` leaves it open for other caches
   * reopens by itself what may acknowledge a write and lose it.
   */
  write(changes: readonly CacheChange[], settle?: Transact): Promise<void>;
  /**
   * Where several caches use the store at a time: `hear` is to be called with whatever another one of them tells.
   */
  subscribe?(hear: (notice: unknown) => void): CacheSubscription;
  /**
   * Releases what it holds; what the caches still need that are connected, stays. A later call of `load` or `write` opens it
   * again: somebody signs out after closing.
   */
  close(): Promise<void>;
}

/** The caches of one process that use one store at a time: what one of them tells, the others hear. */
export class StoreSubscribers {
  readonly #listeners = new Set<(notice: unknown) => void>();

  get count(): number {
    return this.#listeners.size;
  }

  subscribe(hear: (notice: unknown) => void): CacheSubscription {
    const listeners = this.#listeners;
    listeners.add(hear);
    return {
      publish: (notice) => {
        for (const other of listeners) if (other !== hear) queueMicrotask(() => other(notice));
      },
      close: () => void listeners.delete(hear),
    };
  }
}

/**
 * A store in a `Map`: for tests, and for a cache that outlives the clients of one process.
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
    subscribe: (hear) => neighbors.subscribe(hear),
    close: async () => {},
  };
}
