/** `correctables/bindings/cache`: a cache in front of any binding. Browser-safe. */
export { cached, type CachedBinding, type CachedLevels } from './cached.ts';
export { indexedDbStore, type IndexedDbStoreOptions } from './indexeddb-store.ts';
export type { CachedWrite, CacheOptions } from './options.ts';
export {
  mapStore,
  type CacheChange,
  type CacheSubscription,
  type CacheEntry,
  type CacheStore,
  type Transact,
  type WriteOptions,
  type WriteStamp,
} from './cache-store.ts';
