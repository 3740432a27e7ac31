/**
 * Pages on one store, and what outlives them: own updates, clearing, age, values
 * (docs/spec/cache.md).
 */
import { describe, expect, test, vi } from 'vitest';
import { cached, mapStore, type CacheStore } from '../../../../src/bindings/cache/index.ts';
import { estimateBytes } from '../../../../src/values/estimate-bytes.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { get, getMany, put } from '../../../../src/operations/index.ts';
import { virtualClock } from '../../../../src/testing/virtual-clock.ts';
import { cachedValue, fill, page, setUp } from './set-up.ts';
import { StoreBehind } from './store-behind.ts';

/** A read of which the end is of no account, for others too that run in this process later. */
const NEVER_ANSWERED = { timeoutMs: Infinity };

async function write(
  { store, client }: ReturnType<typeof setUp>,
  operation: Operation,
  version?: number,
): Promise<void> {
  const update = client.invokeStrong(operation);
  store.last.sink.view(undefined, 'strong', { version });
  await update;
}

const views = async (store: CacheStore): Promise<unknown[]> =>
  Array.from(await store.load()).flatMap(([id, { value }]) => (id === '["ledger"]' ? [] : [value]));

describe('cache: what outlives a page', () => {
  test('an own write was announced → the next page shows nothing older, though another page wrote it since', async () => {
    const store = mapStore();
    const [mine, theirs] = [page({ store }), page({ store })];
    await fill(mine, get('x'), 'old');
    const slow = theirs.client.invoke(get('x'));
    const { sink } = theirs.store.last;
    await write(mine, { name: 'change', args: {}, key: 'x', access: 'write' });
    sink.view('old', 'strong');
    await slow;
    // Weaker levels lag behind, whenever they were asked.
    theirs.client.invoke(getMany(['x']), NEVER_ANSWERED);
    theirs.store.last.sink.view(['old'], 'weak');
    await theirs.client.close();
    await mine.client.close();
    const next = page({ store });
    expect(await cachedValue(next.client, get('x'))).toBe('miss');
    expect(await cachedValue(next.client, getMany(['x']))).toBe('miss');
    next.client.invoke(getMany(['x']), NEVER_ANSWERED);
    next.store.last.sink.view(['old'], 'weak');
    expect(await cachedValue(next.client, getMany(['x']))).toBe('miss');
  });

  test('the store refuses a write once → it is there after a reload all the same', async () => {
    const retained = mapStore();
    let isFull = false;
    const onError = vi.fn<(error: unknown) => void>();
    const store: CacheStore = {
      ...retained,
      write: (...given) => (isFull ? Promise.reject(new Error('full')) : retained.write(...given)),
    };
    const mine = page({ store, onError });
    await write(mine, put('x', 'old'));
    isFull = true;
    await write(mine, put('x', 'new'));
    expect(onError).toHaveBeenCalled();
    await expect(mine.binding.clear()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      cause: { message: 'full' },
    });
    isFull = false;
    await write(mine, put('x', 'newest'));
    await mine.client.close();
    expect(await views(retained)).toEqual(['newest']);
  });

  test.each(['own write', 'invalidate'])(
    '%s while views of a former user wait for the store → not stored',
    async (how) => {
      const retained = mapStore();
      let land = (): void => {};
      const landing = new Promise<void>((resolve) => (land = resolve));
      const store: CacheStore = {
        ...retained,
        write: (...given) => landing.then(() => retained.write(...given)),
      };
      const user = { id: 'ann' };
      const shop = page({ store, principal: () => user.id });
      await shop.binding.ready();
      await fill(shop, get('other'), 1);
      // A write is on its way: what comes now waits for the next one.
      await Promise.resolve();
      await fill(shop, get('x'), 'old');
      user.id = 'bob';
      await fill(shop, get('bobs'), 1);
      user.id = 'ann';
      const changed =
        how === 'invalidate'
          ? shop.binding.invalidate('x')
          : write(shop, { name: 'change', args: {}, key: 'x', access: 'write' });
      land();
      await changed;
      await shop.client.close();
      const next = page({ store: retained, principal: 'ann' });
      expect(await cachedValue(next.client, get('x'))).toBe('miss');
    },
  );

  test('clear of everything → no name of what was updated is left in the store', async () => {
    const store = mapStore();
    const shop = page({ store });
    await write(shop, put('letter to the lawyer', 'dear'));
    await shop.binding.clear();
    expect(JSON.stringify([...(await store.load())])).not.toContain('lawyer');
  });

  test('a page that lags → its older version does not replace the newer one of another page', async () => {
    const store = mapStore();
    const [mine, theirs] = [page({ store }), page({ store })];
    await write(mine, put('x', 'new'), 2);
    theirs.client.invoke(get('x'), { levels: ['weak'] });
    theirs.store.last.sink.view('old', 'weak', { version: 1 });
    await theirs.client.close();
    expect(await views(store)).toEqual(['new']);
  });

  test('clear → also what another page wrote; other pages forget; after close too', async () => {
    const store = mapStore();
    const [mine, theirs] = [page({ store, principal: 'ada' }), page({ store, principal: 'ada' })];
    await mine.binding.ready();
    await write(theirs, put('x', 'secret'));
    await mine.binding.clear({ principal: 'ada' });
    expect(await views(store)).toEqual([]);
    await expect.poll(() => theirs.binding.size.entries).toBe(0);
    await write(theirs, put('x', 'secret'));
    await mine.client.close();
    await mine.binding.clear();
    expect(await views(store)).toEqual([]);
  });

  test.each([
    { what: 'close', store: { close: () => Promise.reject(new Error('disk')) } },
    {
      what: 'connect',
      store: {
        subscribe: () => {
          throw new Error('disk');
        },
      },
    },
    {
      what: 'tell',
      store: {
        subscribe: () => ({
          publish: () => {
            throw new Error('disk');
          },
          close: () => {},
        }),
      },
    },
  ])('a store whose $what fails → reported, and signing out goes on', async ({ store }) => {
    const onError = vi.fn<(error: unknown) => void>();
    const retained = mapStore();
    const shop = setUp({ store: { ...retained, ...store }, onError });
    await fill(shop, get('x'), 'secret');
    await shop.client.close();
    await shop.binding.clear();
    expect(await views(retained)).toEqual([]);
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: 'disk' }));
  });

  test('a store that does not end its writes → finals come, bounded, and then at once', async () => {
    const clock = virtualClock();
    const store: CacheStore = { ...mapStore(), write: () => new Promise(() => {}) };
    const mine = setUp({ store, clock, onError: () => {} });
    await mine.binding.ready();
    const reported = vi.fn<() => void>();
    mine.client.invokeStrong(put('x', 1)).onFinal(reported);
    mine.store.last.sink.view(undefined, 'strong');
    expect(await cachedValue(mine.client, get('x'))).toBe(1);
    expect(reported).not.toHaveBeenCalled();
    await clock.advance(1_000);
    await expect.poll(() => reported.mock.calls.length).toBe(1);
    await write(mine, put('x', 2));
    expect(await cachedValue(mine.client, get('x'))).toBe(2);
  });

  test('a store that hangs, and callers with little time → known as such once all have waited a second', async () => {
    const clock = virtualClock();
    const store: CacheStore = { ...mapStore(), write: () => new Promise(() => {}) };
    const behind = new StoreBehind();
    const binding = cached(behind, { store, clock, onError: () => {} });
    const client = createClient(binding, { clock });
    await binding.ready();
    const reported = vi.fn<() => void>();
    const update = (): void => {
      client.invokeStrong(put('x', 1), { timeoutMs: 1_000 }).onFinal(reported);
      behind.last.sink.view(undefined, 'strong');
    };
    for (const times of [1, 2]) {
      update();
      await clock.advance(500);
      await expect.poll(() => reported.mock.calls.length).toBe(times);
    }
    update();
    await expect.poll(() => reported.mock.calls.length).toBe(3);
  });
});

describe('cache: sessions that go on', () => {
  test('opened with tokens → only what began since, at the strongest level', async () => {
    const shop = setUp();
    await fill(shop, get('x'), 'from before');
    const session = shop.client.session({ tokens: [] });
    const inSession = (): Promise<unknown> =>
      shop.client.invokeWeak(get('x'), { session }).then(String, () => 'miss');
    expect(await inSession()).toBe('miss');
    await fill(shop, get('x'), 'since');
    expect(await inSession()).toBe('since');
  });
});

describe('cache: age', () => {
  test('ttlMs: older → a miss that leaves memory and store; by the wall clock over a reload, also one set back', async () => {
    const clock = virtualClock();
    const store = mapStore();
    let now = 1_000_000;
    const mine = page({ store, clock, ttlMs: 1_000, now: () => now });
    await fill(mine, get('x'), 1);
    await mine.binding.invalidate('other');
    expect(await views(store)).toEqual([1]);
    await clock.advance(1_000);
    expect(await cachedValue(mine.client, get('x'))).toBe('miss');
    await mine.binding.invalidate('other');
    expect(await views(store)).toEqual([]);
    await fill(mine, get('x'), 2);
    await mine.binding.invalidate('other');
    for (const later of [1_000, -1]) {
      now += later;
      const next = page({ store, ttlMs: 1_000, now: () => now });
      expect(await cachedValue(next.client, get('x'))).toBe('miss');
    }
  });
});

describe('cache: what is filed', () => {
  const count = (key: string): Operation<number> => ({
    name: 'count',
    args: {},
    access: 'read',
    key,
  });

  test('operations that differ in their key alone → two views', async () => {
    const shop = setUp();
    await fill(shop, count('visits'), 11);
    expect(await cachedValue(shop.client, count('likes'))).toBe('miss');
  });

  test('write-through: a read that is not cacheable → not filed; else under what the read depends on', async () => {
    const secret = setUp({ isCacheable: ({ key }) => key !== 'card' });
    await write(secret, put('card', '4111'));
    expect(secret.binding.size.entries).toBe(0);
    const profile: Operation = { name: 'profile', args: {}, access: 'read' };
    const set = (key: string): Operation => ({ name: 'set', args: {}, key, access: 'write' });
    const shop = setUp({
      touches: ({ name, key = '' }) => (name === 'profile' ? ['name', 'mail'] : [key]),
      writeThrough: ({ key }) =>
        key === 'name' ? { operation: profile, value: 'Ada, old mail' } : undefined,
    });
    await write(shop, set('name'));
    expect(await cachedValue(shop.client, profile)).toBe('Ada, old mail');
    await write(shop, set('mail'));
    expect(await cachedValue(shop.client, profile)).toBe('miss');
  });

  test('instances of classes → not kept, reported once with the path; a version that is one → in memory only', async () => {
    class Money {}
    const onError = vi.fn<(error: unknown) => void>();
    const store = mapStore();
    const shop = page({ onError, store });
    for (const key of ['a', 'b']) await fill(shop, get(key), { items: [{ price: new Money() }] });
    expect(shop.binding.size.entries).toBe(0);
    expect(onError).toHaveBeenCalledOnce();
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ field: 'value.items.0.price' }));
    const read = shop.client.invoke(getMany(['c']));
    shop.store.last.sink.view([1], 'strong', { version: new Money() });
    await read;
    expect(await cachedValue(shop.client, getMany(['c']))).toEqual([1]);
    await shop.binding.invalidate('other');
    expect(await views(store)).toEqual([]);
  });

  test('bytes of a class of their own → not kept, reported with the path; as arguments → not kept either', async () => {
    class Picture extends Uint8Array {}
    const onError = vi.fn<(error: unknown) => void>();
    const shop = page({ onError });
    await fill(shop, get('a'), { picture: new Picture(2) });
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ field: 'value.picture' }),
    );
    const like = (args: unknown): Operation => ({ name: 'like', args, key: 'x', access: 'read' });
    for (const args of [new Picture(2), new (class extends Date {})(5)])
      await fill(shop, like(args), 1);
    expect(shop.binding.size.entries).toBe(0);
    await fill(shop, like(Buffer.from([0, 0])), 1);
    expect(await cachedValue(shop.client, like(new Uint8Array(2)))).toBe(1);
  });

  test("a binding's order of versions throws → reported, and the read succeeds", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const isOlder = (): never => {
      throw new Error('no such version');
    };
    const store = Object.assign(new StoreBehind(), { isOlder });
    const client = createClient(cached(store, { onError }), { onUncaught: () => {} });
    for (const version of [1, 2]) await fill({ store, client }, get('x'), version, version);
    expect(onError).toHaveBeenCalled();
  });

  test('a view of few bytes on a large buffer → those alone are kept and counted; a Blob counts by its size', async () => {
    const shop = setUp();
    await fill(shop, get('x'), new Uint8Array(100_000).subarray(0, 16).fill(7));
    expect(shop.binding.size.bytes).toBeLessThan(1_000);
    const { buffer } = (await cachedValue(shop.client, get('x'))) as Uint8Array;
    expect(buffer.byteLength).toBe(16);
    expect(estimateBytes(new Blob([new Uint8Array(5_000)]))).toBeGreaterThan(5_000);
  });
});

test('cache: offline, while the store is still read → the cached view first, then the failure', async () => {
  const retained = mapStore();
  const before = page({ store: retained });
  await fill(before, get('x'), 'kept');
  await before.client.close();
  let loaded: () => void = () => {};
  const gate = new Promise<void>((resolve) => (loaded = resolve));
  const offline = page({ store: { ...retained, load: () => gate.then(() => retained.load()) } });
  const view = offline.client.invoke(get('x')).settle({ orLatest: true });
  offline.store.last.sink.fail(new Error('no route'));
  loaded();
  expect(await view).toMatchObject({ value: 'kept', level: 'cache' });
});
