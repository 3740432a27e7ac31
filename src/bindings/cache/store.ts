/** Where cached views outlive the process: a small interface with one implementation a platform. */

/** One cached view, as it is stored. Plain data that `structuredClone` accepts. */
export interface CacheEntry {
  readonly value: unknown;
  /** The level at which the store gave the view. */
  readonly level: string;
  readonly version?: unknown;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** When it was cached, in milliseconds since the epoch. */
  readonly cachedAt: number;
  /** The objects that the view depends on; `undefined` if it may depend on any. */
  readonly touches: readonly string[] | undefined;
}

/** Whether what a store gives is an entry. */
export function isEntry(found: unknown): found is CacheEntry {
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
 * Durable home of a cache. It is read once, at opening, and written behind: the cache itself answers from memory, within
 * its bounds, and never waits for the store.
 */
export interface CacheStore {
  /** Every entry, those used longest ago first where the store knows. Called once, before `write`. */
  load(): Promise<Iterable<readonly [id: string, entry: CacheEntry]>>;
  /** Applies all changes or none. Called again only when the call before has ended. */
  write(changes: readonly CacheChange[]): Promise<void>;
  close(): Promise<void>;
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
  return {
    load: async () => [...entries],
    write: async (changes) => {
      for (const [id, entry] of changes) {
        entries.delete(id);
        if (entry !== undefined) entries.set(id, entry);
      }
    },
    close: async () => {},
  };
}
