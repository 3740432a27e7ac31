/** Cached views that outlive a page, in the browser's IndexedDB. */
import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import { check } from '../../correctable/errors.ts';
import { checkRecord, isName } from '../../correctable/given.ts';
import type { CacheEntry, CacheStore } from './store.ts';

/** What `indexedDbStore` is made from. */
export interface IndexedDbStoreOptions {
  /** The name of the database, one for each cache of the site. */
  readonly name: string;
}

interface Schema extends DBSchema {
  views: { key: string; value: CacheEntry };
}

const CALL = "indexedDbStore({ name: 'shop' })";

/**
 * Keeps a cache in IndexedDB. Pages of one site may share a database: each sees what the others cached when it opens it.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` where the name is missing
 * @example
 * const binding = cached(redblue(shop, { url }), { store: indexedDbStore({ name: 'shop' }), principal: user.id });
 */
export function indexedDbStore(options: IndexedDbStoreOptions): CacheStore {
  checkRecord(options, { call: CALL });
  const { name } = options;
  check(isName(name), 'name', `must be the name of the database: write ${CALL}`);
  let opening: Promise<IDBPDatabase<Schema>> | undefined;
  const forget = (): void => {
    opening = undefined;
  };
  const open = (): Promise<IDBPDatabase<Schema>> => {
    if (opening === undefined) {
      opening = openViews(name, forget);
      // A failure to open is the caller's to report; the next call tries anew.
      opening.catch(forget);
    }
    return opening;
  };
  return {
    load: async () => {
      const transaction = (await open()).transaction('views');
      const [ids, entries] = await Promise.all([transaction.store.getAllKeys(), transaction.store.getAll()]);
      return ids.map((id, index) => [id, entries[index] as CacheEntry] as const);
    },
    write: async (changes) => {
      const transaction = (await open()).transaction('views', 'readwrite', { durability: 'relaxed' });
      const requests = changes.map(([id, entry]) =>
        entry === undefined ? transaction.store.delete(id) : transaction.store.put(entry, id),
      );
      await Promise.all([...requests, transaction.done]);
    },
    close: async () => {
      const closing = opening;
      forget();
      (await closing)?.close();
    },
  };
}

function openViews(name: string, onGone: () => void): Promise<IDBPDatabase<Schema>> {
  return openDB<Schema>(name, 1, {
    upgrade: (database) => {
      database.createObjectStore('views');
    },
    // Another page deletes or upgrades the database: make way.
    blocking: (_current, _blocked, event) => {
      onGone();
      (event.target as IDBDatabase).close();
    },
    terminated: onGone,
  });
}
