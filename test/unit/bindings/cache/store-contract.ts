/** What every store of a cache keeps, whatever it is made of. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CacheChange, CacheEntry, CacheStore } from '../../../../src/bindings/cache/index.ts';
import { get } from '../../../../src/operations/index.ts';
import { cachedValue, fill, setUp } from './set-up.ts';

/** One place to store at. */
export interface Place {
  /** Opens it, as a page does: again after a reload. */
  readonly open: () => CacheStore;
  /** What another cache uses while the one that was opened is open. */
  readonly beside: (opened: CacheStore) => CacheStore;
  /**
   * Lets a write of `opened` fail. If it stays open after that, it may acknowledge what it loses.
   */
  readonly failWrite: (opened: CacheStore, changes: readonly CacheChange[]) => Promise<void>;
}

const entry = (value: unknown): CacheEntry => ({
  value,
  level: 'strong',
  cachedAt: 1,
  touches: ['x'],
});

async function all(store: CacheStore): Promise<Record<string, unknown>> {
  return Object.fromEntries(Array.from(await store.load(), ([id, { value }]) => [id, value]));
}

/** Runs the contract. */
export function keepsStoreContract(name: string, make: () => Promise<Place>): void {
  const open = async (): Promise<{ store: CacheStore; place: Place }> => {
    const place = await make();
    const store = place.open();
    onTestFinished(() => store.close());
    return { store, place };
  };

  describe(`store: ${name}`, () => {
    test('written → read back, also after it was closed and opened by another', async () => {
      const { store, place } = await open();
      const value = {
        at: new Date(5),
        bytes: new Uint8Array([1, 2]),
        big: 7n,
        map: new Map([[1, new Set(['a'])]]),
      };
      const whole: CacheEntry = {
        ...entry(value),
        version: 4n,
        meta: { left: 1 },
        touches: undefined,
        stamp: { cacheId: 'p', seq: 3 },
      };
      await store.write([['a', whole]]);
      expect([...(await store.load())]).toEqual([['a', whole]]);
      await store.close();
      const again = place.open();
      onTestFinished(() => again.close());
      expect([...(await again.load())]).toEqual([['a', whole]]);
    });

    test('replaced and removed → so', async () => {
      const { store } = await open();
      await store.write([
        ['a', entry(1)],
        ['b', entry(2)],
      ]);
      await store.write([
        ['a', undefined],
        ['b', entry(3)],
        ['never there', undefined],
      ]);
      expect(await all(store)).toEqual({ b: 3 });
    });

    test('closed, then called again → opens again', async () => {
      const { store } = await open();
      await store.write([['a', entry(1)]]);
      await store.close();
      await store.write([['b', entry(2)]]);
      expect(await all(store)).toEqual({ a: 1, b: 2 });
      await store.close();
      await store.close();
      expect(await all(store)).toEqual({ a: 1, b: 2 });
    });

    test('a write fails → what is acknowledged after it is there for a store that is opened later', async () => {
      const { store, place } = await open();
      await store.write([
        ['a', entry(1)],
        ['removed', entry(1)],
      ]);
      await expect(place.failWrite(store, [['a', entry(2)]])).rejects.toThrow(/./);
      expect(await all(store)).toEqual({ a: 1, removed: 1 });
      await store.write([
        ['a', entry(3)],
        ['removed', undefined],
      ]);
      await store.close();
      const again = place.open();
      onTestFinished(() => again.close());
      expect(await all(again)).toEqual({ a: 3 });
    });

    test('shared: settle → gets the present entries of the ids, and writes what it returns instead', async () => {
      const { store, place } = await open();
      const other = place.beside(store);
      onTestFinished(() => other.close());
      await other.write([
        ['a', entry('theirs')],
        ['b', entry('left alone')],
      ]);
      const found: unknown[] = [];
      await store.write([['a', entry('ours')]], (there) => {
        found.push(there.get('a')?.value, there.get('c'));
        return [['c', entry('settled')]] satisfies CacheChange[];
      });
      expect(found).toEqual(['theirs', undefined]);
      expect(await all(store)).toEqual({ a: 'theirs', b: 'left alone', c: 'settled' });
    });

    test('shared: two write at once → one after the other, nothing is lost', async () => {
      const { store, place } = await open();
      const other = place.beside(store);
      onTestFinished(() => other.close());
      const add = (to: CacheStore): Promise<void> =>
        to.write([['n', entry(0)]], (there) => [
          ['n', entry(Number(there.get('n')?.value ?? 0) + 1)],
        ]);
      for (let i = 0; i < 20; i++) await Promise.all([add(store), add(other)]);
      expect(await all(store)).toEqual({ n: 40 });
    });

    test('shared: publish → reaches the other stores, but neither its own subscriber nor one that has unsubscribed', async () => {
      const { store, place } = await open();
      const other = place.beside(store);
      onTestFinished(() => other.close());
      const heard: unknown[] = [];
      const own: unknown[] = [];
      const reader = other.subscribe?.((notice) => heard.push(notice));
      const publisher = store.subscribe?.((notice) => own.push(notice));
      publisher?.publish({ seq: 1 });
      await expect.poll(() => heard).toEqual([{ seq: 1 }]);
      reader?.close();
      publisher?.publish({ seq: 2 });
      await other.load();
      publisher?.close();
      expect([heard, own]).toEqual([[{ seq: 1 }], []]);
    });

    test('shared: two caches at once → each forgets what the other writes, and a later one finds nothing of it', async () => {
      const { store, place } = await open();
      const [item, other] = [setUp({ store }), setUp({ store: place.beside(store) })];
      const update = async (by: typeof item, key: string): Promise<void> => {
        const reported = by.client.invokeStrong({ name: 'change', args: {}, key, access: 'write' });
        by.store.last.sink.view(undefined, 'strong');
        await reported;
      };
      await Promise.all([item.binding.ready(), other.binding.ready()]);
      await fill(item, get('x'), 'old');
      await fill(other, get('y'), 'old');
      await Promise.all([update(item, 'y'), update(other, 'x')]);
      await expect.poll(() => item.binding.size.entries + other.binding.size.entries).toBe(0);
      await fill(item, get('z'), 'theirs');
      await fill(other, get('w'), 'theirs, too');
      await item.client.close();
      await other.client.close();
      const next = setUp({ store: place.open() });
      onTestFinished(() => next.client.close());
      const found = ['x', 'y', 'z', 'w'].map((key) => cachedValue(next.client, get(key)));
      expect(await Promise.all(found)).toEqual(['miss', 'miss', 'theirs', 'theirs, too']);
    });
  });
}
