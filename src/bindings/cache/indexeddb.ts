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

/** 1 had views without keys and stamps. */
const VERSION = 2;

/**
 * Keeps a cache in IndexedDB, unencrypted. Pages of one site may share a database: each reads it when it opens, tells the
 * others of its updates by a `BroadcastChannel` of that name, and writes nothing older over what they have written.
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
    write: async (changes, settle) => {
      const transaction = (await open()).transaction('views', 'readwrite', { durability: 'relaxed' });
      const { store, done } = transaction;
      const found = new Map<string, CacheEntry>();
      const find = async (id: string): Promise<void> => {
        const entry = await store.get(id);
        if (entry !== undefined) found.set(id, entry);
      };
      try {
        await Promise.all(changes.map(([id]) => find(id)));
        // In the same turn as the last answer, or the transaction would end.
        const written = settle?.(found) ?? changes;
        const requests = written.map(([id, entry]) => (entry === undefined ? store.delete(id) : store.put(entry, id)));
        await Promise.all([...requests, done]);
      } catch (error) {
        // All or none: what cannot be copied throws by itself, and the transaction would go on without it.
        done.catch(() => {});
        abort(transaction);
        throw error;
      }
    },
    connect: (hear) => {
      if (typeof BroadcastChannel === 'undefined') return { tell: () => {}, close: () => {} };
      const channel = new BroadcastChannel(`correctables cache ${name}`);
      channel.addEventListener('message', ({ data }) => hear(data));
      return {
        // A BroadcastChannel stays within one origin, and its `postMessage` takes no other.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        tell: (notice) => channel.postMessage(notice),
        close: () => channel.close(),
      };
    },
    close: async () => {
      const closing = opening;
      forget();
      (await closing)?.close();
    },
  };
}

function abort(transaction: { abort(): void }): void {
  try {
    transaction.abort();
  } catch {
    // It has been aborted already.
  }
}

function openViews(name: string, onGone: () => void): Promise<IDBPDatabase<Schema>> {
  return openDB<Schema>(name, VERSION, {
    upgrade: (database) => {
      if (database.objectStoreNames.contains('views')) database.deleteObjectStore('views');
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
