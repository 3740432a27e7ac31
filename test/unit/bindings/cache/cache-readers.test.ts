/**
 * Readers of weak levels alone, beside updates: their own bind them for ever, those of others do
 * not.
 */
import { describe, expect, test, vi } from 'vitest';
import {
  mapStore,
  type CacheEntry,
  type CacheStore,
} from '../../../../src/bindings/cache/index.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { get } from '../../../../src/operations/index.ts';
import { cachedValue, fill, page, type Page, setUp } from './set-up.ts';

const change = (key: string): Operation => ({ name: 'change', args: {}, key, access: 'write' });

async function update({ store, client }: Page, key: string): Promise<void> {
  const reported = client.invokeStrong(change(key));
  store.last.sink.view(undefined, 'strong');
  await reported;
}

async function weak({ store, client }: Page, key: string, value: unknown): Promise<void> {
  const read = client.invoke(get(key), { levels: ['weak'] });
  store.last.sink.view(value, 'weak');
  await read;
}

const text = async (store: CacheStore): Promise<string> =>
  JSON.stringify([...(await store.load())]);

describe('cache: readers of weak levels only', () => {
  test('another user has updated it → what is read since is kept, in a later page too', async () => {
    const user = { id: 'ann' };
    const store = mapStore();
    const mine = page({ store, principal: () => user.id });
    await mine.binding.ready();
    await update(mine, 'x');
    user.id = 'bob';
    await weak(mine, 'x', "bob's");
    expect(await cachedValue(mine.client, get('x'))).toBe("bob's");
    await mine.client.close();
    const next = page({ store, principal: 'bob' });
    await next.binding.ready();
    expect(await cachedValue(next.client, get('x'))).toBe("bob's");
    await weak(next, 'x', 'later');
    expect(await cachedValue(next.client, get('x'))).toBe('later');
  });

  test('another user writes more than is remembered → other users are not affected, in a later page either', async () => {
    const store = mapStore();
    const anns = page({ store, principal: 'ann', maxEntries: 3 });
    for (const key of ['a', 'b', 'c', 'd', 'e']) await update(anns, key);
    await weak(anns, 'f', 'lags, perhaps');
    expect(await cachedValue(anns.client, get('f'))).toBe('miss');
    await anns.client.close();
    const bobs = page({ store, principal: 'bob', maxEntries: 3 });
    await bobs.binding.ready();
    await weak(bobs, 'a', "bob's");
    expect(await cachedValue(bobs.client, get('a'))).toBe("bob's");
    await bobs.client.close();
    const again = page({ store, principal: 'bob', maxEntries: 3 });
    expect(await cachedValue(again.client, get('a'))).toBe("bob's");
  });

  test.each([undefined, 'ann'])(
    'clear(%s) after an own write → it binds what it touched, and nothing else',
    async (principal) => {
      const store = mapStore();
      const mine = page({ store, principal: 'ann' });
      await update(mine, 'x');
      await mine.binding.clear(principal === undefined ? {} : { principal });
      for (const item of [mine, page({ store, principal: 'ann' })]) {
        await item.binding.ready();
        await weak(item, 'x', 'lags, perhaps');
        await weak(item, 'y', 'read');
        expect(await cachedValue(item.client, get('x'))).toBe('miss');
        expect(await cachedValue(item.client, get('y'))).toBe('read');
      }
    },
  );

  test('clear with a misspelled principal → INVALID_ARGUMENT, nothing is cleared', async () => {
    const shop = setUp();
    await fill(shop, get('x'), 1);
    const misspelled = { pricipal: 'bob' } as object;
    expect(() => shop.binding.clear(misspelled)).toThrow('Did you mean "principal"?');
    expect(await cachedValue(shop.client, get('x'))).toBe(1);
  });

  test('clear of one user → neither their name nor those of what they changed are left in the store', async () => {
    const store = mapStore();
    const mine = page({ store, principal: 'ann of the roses' });
    await fill(mine, get('diary'), 'dear diary');
    await update(mine, 'letter to the lawyer');
    await mine.binding.invalidate('diary');
    await mine.binding.clear({ principal: 'ann of the roses' });
    expect(await text(store)).not.toMatch(/roses|lawyer|diary/);
  });
});

describe('cache: a store of its user that keeps less', () => {
  test('what JSON keeps → an own write holds after a reload', async () => {
    let retained = '[]';
    const load = async (): Promise<[string, CacheEntry][]> =>
      JSON.parse(retained) as [string, CacheEntry][];
    const write: CacheStore['write'] = async (changes) => {
      const rows = new Map(await load());
      for (const [id, entry] of changes) {
        rows.delete(id);
        if (entry !== undefined) rows.set(id, entry);
      }
      retained = JSON.stringify([...rows]);
    };
    const store: CacheStore = { load, write, close: async () => {} };
    const mine = page({ store });
    await fill(mine, get('y'), 'kept');
    await update(mine, 'x');
    await mine.client.close();
    const next = page({ store });
    expect(await cachedValue(next.client, get('y'))).toBe('kept');
    await weak(next, 'x', 'lags, perhaps');
    expect(await cachedValue(next.client, get('x'))).toBe('miss');
  });

  test.each(['loses', 'damages'])(
    'it %s the ledger → reported, and nothing that it kept is shown',
    async (does) => {
      const under = mapStore();
      const before = page({ store: under });
      await fill(before, get('y'), 'from before a write, perhaps');
      await before.client.close();
      const load = async (): Promise<(readonly [string, CacheEntry])[]> => {
        const all = [...(await under.load())];
        if (does === 'loses') return all.filter(([id]) => id !== '["ledger"]');
        return all.map(([id, entry]) => [
          id,
          id === '["ledger"]' ? { ...entry, value: { seq: 1 } } : entry,
        ]);
      };
      const onError = vi.fn<(error: unknown) => void>();
      const mine = page({ store: { ...under, load }, onError });
      await mine.binding.ready();
      expect(onError).toHaveBeenCalledOnce();
      expect(await cachedValue(mine.client, get('y'))).toBe('miss');
      await weak(mine, 'x', 'lags, perhaps');
      expect(await cachedValue(mine.client, get('x'))).toBe('miss');
      await fill(mine, get('x'), 'new');
      await mine.client.close();
      const next = page({ store: under });
      expect(await cachedValue(next.client, get('y'))).toBe('miss');
      expect(await cachedValue(next.client, get('x'))).toBe('new');
    },
  );
});
