/**
 * `indexedDbStore` on an IndexedDB of its own for each place: what every store keeps, and
 * connections that are lost.
 */
import { IDBFactory, IDBObjectStore } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  indexedDbStore,
  type CacheEntry,
  type CacheStore,
} from '../../../../src/bindings/cache/index.ts';
import { keepsStoreContract } from './store-contract.ts';

let places = 0;

keepsStoreContract('indexedDbStore', async () => {
  globalThis.indexedDB = new IDBFactory();
  const name = `contract ${(places += 1)}`;
  const open = (): CacheStore => indexedDbStore({ name });
  const failWrite = async (
    opened: CacheStore,
    changes: Parameters<CacheStore['write']>[0],
  ): Promise<void> => {
    const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
      throw new DOMException('Connection to Indexed Database server lost', 'UnknownError');
    });
    await opened.write(changes).finally(() => put.mockRestore());
  };
  return { open, beside: open, failWrite };
});

describe('indexedDbStore: its connection is lost', () => {
  const entry: CacheEntry = { value: 1, level: 'strong', cachedAt: 1, touches: ['x'] };
  const open = (): CacheStore => {
    const store = indexedDbStore({ name: 'lost' });
    onTestFinished(() => store.close());
    return store;
  };
  let databases: IDBDatabase[];
  /** What becomes of each connection that is opened from now on. */
  let afterOpening: (database: IDBDatabase) => void;

  beforeEach(() => {
    const factory = new IDBFactory();
    globalThis.indexedDB = factory;
    databases = [];
    afterOpening = () => {};
    const whole = factory.open.bind(factory);
    vi.spyOn(factory, 'open').mockImplementation((...given) => {
      const request = whole(...given);
      request.addEventListener('success', () => {
        const database = request.result;
        databases.push(database);
        afterOpening(database);
      });
      return request;
    });
  });

  /**
   * Lets the next call run out of time when the test says so, on a platform without
   * `AbortSignal.timeout`.
   */
  const holdLimit = (): (() => void) => {
    vi.stubGlobal('AbortSignal', undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    let giveUp: (() => void) | undefined;
    vi.spyOn(globalThis, 'setTimeout').mockImplementationOnce((fire) => {
      giveUp = fire;
      return undefined as never;
    });
    return () => giveUp?.();
  };
  const fails = (name: string) => (database: IDBDatabase) => {
    database.transaction = () => {
      throw new DOMException('of the browser', name);
    };
  };
  const ways: Readonly<Record<string, (database: IDBDatabase) => void>> = {
    'it is closed without an event': (database) => database.close(),
    'each transaction fails with UnknownError': fails('UnknownError'),
    'each transaction fails with InvalidStateError': fails('InvalidStateError'),
    'each transaction fails with the error of another realm': (database) => {
      database.transaction = () => {
        throw Object.assign(new Error('of the browser'), { name: 'InvalidStateError' });
      };
    },
    'each transaction is aborted': (database) => {
      const begin = database.transaction.bind(database);
      database.transaction = (...given) => {
        const transaction = begin(...given);
        queueMicrotask(() => transaction.abort());
        return transaction;
      };
    },
    'a transaction never ends': (database) => {
      const giveUp = holdLimit();
      const begin = database.transaction.bind(database);
      database.transaction = (...given) => {
        const transaction = begin(...given);
        vi.spyOn(transaction, 'objectStore').mockReturnValue({
          get: () => Object.assign(new EventTarget(), { error: null }),
          getAll: () => Object.assign(new EventTarget(), { error: null }),
        } as never);
        queueMicrotask(giveUp);
        return transaction;
      };
    },
  };

  test.each(Object.entries(ways))(
    '%s → it is opened again, and the call is tried again',
    async (_way, lose) => {
      const store = open();
      await store.write([['a', entry]]);
      lose(databases[0] as IDBDatabase);
      await store.write([['b', entry]]);
      expect(databases).toHaveLength(2);
      expect([...(await open().load())].map(([id]) => id)).toEqual(['a', 'b']);
      lose(databases[1] as IDBDatabase);
      expect([...(await store.load())].map(([id]) => id)).toEqual(['a', 'b']);
    },
  );

  test('it is lost each time → the call fails after the second attempt; closed, it is not opened again', async () => {
    const store = open();
    afterOpening = fails('UnknownError');
    await expect(store.load()).rejects.toMatchObject({ name: 'UnknownError' });
    expect(databases).toHaveLength(2);
    await store.close();
    expect(databases).toHaveLength(2);
  });

  test('there is no room → the error of the browser, without another attempt', async () => {
    const store = open();
    await store.write([['a', entry]]);
    const full = new DOMException('full', 'QuotaExceededError');
    const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
      throw full;
    });
    await expect(store.write([['b', entry]])).rejects.toBe(full);
    expect(put).toHaveBeenCalledTimes(1);
    put.mockRestore();
    expect(databases).toHaveLength(1);
  });

  test('it opens only after it was given up → it is closed, and a later one is used', async () => {
    queueMicrotask(holdLimit());
    const store = open();
    await store.write([['a', entry]]);
    expect([...(await store.load())].map(([id]) => id)).toEqual(['a']);
    await expect.poll(() => databases.length).toBe(2);
    expect(() => databases[0]?.transaction('views')).toThrow(/./);
  });
});

test('indexedDbStore: a value cannot be copied, behind one that can → the write fails, and no rejection is unhandled', async () => {
  globalThis.indexedDB = new IDBFactory();
  const store = indexedDbStore({ name: 'copies' });
  onTestFinished(() => store.close());
  const onUnhandled = vi.fn<(error: unknown) => void>();
  process.on('unhandledRejection', onUnhandled);
  onTestFinished(() => void process.off('unhandledRejection', onUnhandled));
  const entry = (value: unknown): CacheEntry => ({
    value,
    level: 'strong',
    cachedAt: 1,
    touches: ['x'],
  });
  const changes = [['a', entry(1)] as const, ['b', entry(() => {})] as const];
  await expect(store.write(changes)).rejects.toMatchObject({ name: 'DataCloneError' });
  expect([...(await store.load())]).toEqual([]);
  expect(onUnhandled).not.toHaveBeenCalled();
});

describe('indexedDbStore: other databases, and other versions', () => {
  const entry: CacheEntry = { value: 1, level: 'strong', cachedAt: 1, touches: ['x'] };
  const fullName = 'correctables cache shop';
  const openShop = (): CacheStore => {
    const store = indexedDbStore({ name: 'shop' });
    onTestFinished(() => store.close());
    return store;
  };
  /** Opens a database as an application does. */
  const openNative = (name: string, version: number, table?: string): Promise<IDBDatabase> =>
    new Promise((resolve, reject) => {
      const request = indexedDB.open(name, version);
      request.addEventListener('upgradeneeded', () => {
        if (table !== undefined) request.result.createObjectStore(table).put('mine', 1);
      });
      request.addEventListener('success', () => resolve(request.result));
      request.addEventListener('error', () => reject(request.error!));
    });

  beforeEach(() => void (globalThis.indexedDB = new IDBFactory()));

  test.each(['before', 'after'])(
    'the application opens a database of the same name %s → both are usable',
    async (order) => {
      const store = openShop();
      if (order === 'after') await store.write([['a', entry]]);
      const notes = await openNative('shop', 1, 'notes');
      onTestFinished(() => notes.close());
      await store.write([['b', entry]]);
      expect([...notes.objectStoreNames]).toEqual(['notes']);
      expect([...(await store.load())].map(([id]) => id)).toContain('b');
    },
  );

  test('a later version of the package has upgraded it → UNAVAILABLE with the name, and it is not changed', async () => {
    const later = await openNative(fullName, 7, 'views');
    later.close();
    const message = expect.stringContaining(fullName) as string;
    const cause = expect.objectContaining({ name: 'VersionError' }) as unknown;
    await expect(openShop().load()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      field: 'name',
      message,
      cause,
    });
    const again = await openNative(fullName, 7);
    expect([...again.objectStoreNames]).toEqual(['views']);
    again.close();
  });

  test('another page upgrades it while it is open → the page may, and calls fail with UNAVAILABLE from then on', async () => {
    const store = openShop();
    await store.write([['a', entry]]);
    const later = await openNative(fullName, 2);
    onTestFinished(() => later.close());
    await expect(store.load()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test('it has lost its table → it is created again', async () => {
    const without = await openNative(fullName, 1);
    without.close();
    const store = openShop();
    await store.write([['a', entry]]);
    expect([...(await store.load())].map(([id]) => id)).toEqual(['a']);
  });

  test('the browser has no IndexedDB, or forbids it → UNAVAILABLE', async () => {
    vi.stubGlobal('indexedDB', undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    await expect(openShop().load()).rejects.toMatchObject({ code: 'UNAVAILABLE', field: 'name' });
  });

  test('the browser has lost a value → the call fails, and later ones find an empty database', async () => {
    const store = openShop();
    await store.write([['a', entry]]);
    const lost = new DOMException('Failed to read large IndexedDB value', 'DataError');
    const getAll = vi.spyOn(IDBObjectStore.prototype, 'getAll').mockImplementationOnce(() => {
      throw lost;
    });
    onTestFinished(() => getAll.mockRestore());
    await expect(store.load()).rejects.toBe(lost);
    expect([...(await store.load())]).toEqual([]);
  });

  test.each([
    [true, 'strict'],
    [false, 'relaxed'],
  ])('isDurable is %s → the transaction is %s', async (isDurable, durability) => {
    const store = openShop();
    await store.load();
    const begin = vi.spyOn(IDBDatabase.prototype, 'transaction');
    onTestFinished(() => begin.mockRestore());
    await store.write([['a', entry]], undefined, { isDurable });
    expect(begin).toHaveBeenCalledExactlyOnceWith(['views'], 'readwrite', { durability });
  });
});
