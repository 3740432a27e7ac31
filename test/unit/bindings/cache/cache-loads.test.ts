/**
 * Stored views beside what the page has learnt since: a load that fails, is late, or belongs to
 * another user.
 */
import { describe, expect, test, vi } from 'vitest';
import { mapStore, type CacheStore } from '../../../../src/bindings/cache/index.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { virtualClock } from '../../../../src/testing/index.ts';
import { cachedValue, fill, page, type Page } from './set-up.ts';

/** A store that keeps `x` as an earlier page left it. */
async function kept(value: unknown, version?: number): Promise<CacheStore> {
  const store = mapStore();
  const before = page({ store });
  await fill(before, get('x'), value, version);
  await before.client.close();
  return store;
}

/** A store for one page at a time, which does not compare. */
function simple(value: CacheStore): CacheStore {
  return {
    load: () => value.load(),
    write: (changes) => value.write(changes),
    close: () => value.close(),
  };
}

/** One whose next loads wait until `go` is called. */
function slow(store: CacheStore): { readonly store: CacheStore; readonly go: () => void } {
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  return { store: { ...store, load: () => gone.then(() => store.load()) }, go };
}

async function weak({ store, client }: Page, value: unknown, version?: number): Promise<void> {
  const read = client.invoke(get('x'), { levels: ['weak'] });
  store.last.sink.view(value, 'weak', { version });
  await read;
}

const views = async (store: CacheStore): Promise<unknown[]> =>
  Array.from(await store.load()).flatMap(([id, { value }]) => (id === '["ledger"]' ? [] : [value]));

describe('cache: a store that is read late, or not', () => {
  test("onMiss 'fetch', and the arguments are changed while it is read → refused, and nothing filed", async () => {
    const { store, go } = slow(mapStore());
    const opened = page({ store, onMiss: 'fetch' });
    const args = { account: 'carol' };
    const read = opened.client.invokeWeak<unknown>({ name: 'balance', access: 'read', args });
    args.account = 'bob';
    go();
    await expect(read).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: false });
    await expect(read).rejects.toThrow(/arguments were changed/);
    expect(opened.store.submitted).toHaveLength(0);
  });

  test('it cannot be read at first → nothing is written before it was; what it kept counts then', async () => {
    const under = await kept('new', 5);
    const calls: string[] = [];
    let isIll = true;
    const store: CacheStore = {
      load: async () => {
        calls.push(isIll ? 'refused' : 'load');
        if (isIll) throw new Error('ill');
        return under.load();
      },
      write: async (changes) => {
        calls.push('write');
        await under.write(changes);
      },
      close: async () => {},
    };
    const clock = virtualClock();
    const mine = page({ store, clock });
    await weak(mine, 'old', 3);
    await clock.advance(500);
    expect(new Set(calls)).toEqual(new Set(['refused']));
    // Not proven to be as new as what an earlier page may have written.
    expect(await cachedValue(mine.client, get('x'))).toBe('miss');
    isIll = false;
    await clock.advance(60_000);
    expect(calls.filter((call) => call !== 'refused').slice(0, 1)).toEqual(['load']);
    expect(await cachedValue(mine.client, get('x'))).toBe('new');
    expect(await views(under)).toEqual(['new']);
  });

  test('the store behind was restored, then the load comes → what was read or written since stays', async () => {
    for (const own of ['read', 'written']) {
      const late = slow(await kept('before', 9));
      const mine = page({ store: late.store });
      if (own === 'read') await fill(mine, get('x'), 'after', 2);
      else {
        const update = mine.client.invokeStrong(put('x', 'after'), { timeoutMs: 20 });
        mine.store.last.sink.view(undefined, 'strong', { version: 2 });
        await update;
      }
      late.go();
      await mine.binding.ready();
      expect(await cachedValue(mine.client, get('x'))).toBe('after');
    }
  });

  test('an own write while it is read → what was there before it does not come back', async () => {
    const late = slow(await kept('old', 1));
    const mine = page({ store: late.store });
    const update = mine.client.invokeStrong({
      name: 'change',
      args: {},
      key: 'x',
      access: 'write',
    });
    mine.store.last.sink.view(undefined, 'strong');
    late.go();
    await update;
    await mine.binding.ready();
    expect(await cachedValue(mine.client, get('x'))).toBe('miss');
  });

  test('another page is heard before the load ends → the fences that it brings count all the same', async () => {
    const under = mapStore();
    const earlier = page({ store: under });
    const update = earlier.client.invokeStrong({
      name: 'change',
      args: {},
      key: 'x',
      access: 'write',
    });
    earlier.store.last.sink.view(undefined, 'strong');
    await update;
    await earlier.client.close();
    const late = slow(under);
    const hears: ((notice: unknown) => void)[] = [];
    const mine = page({
      store: {
        ...late.store,
        subscribe: (hear) => (hears.push(hear), { publish: () => {}, close: () => {} }),
      },
    });
    hears[0]?.({ seq: 99, changes: [] });
    late.go();
    await mine.binding.ready();
    await weak(mine, 'old');
    expect(await cachedValue(mine.client, get('x'))).toBe('miss');
  });

  test('another user signs in before the store was read → views of the former user do not overwrite it', async () => {
    const under = await kept('new', 5);
    const late = slow(simple(under));
    let caller = '';
    const mine = page({ store: late.store, principal: () => caller });
    await weak(mine, 'old', 3);
    caller = 'bob';
    late.go();
    await mine.binding.ready();
    await mine.client.close();
    expect(await views(under)).toEqual(['new']);
  });

  test('it hangs → clearing is refused, with what it hangs at as the cause', async () => {
    const clock = virtualClock();
    const hanging: CacheStore = { ...mapStore(), load: () => new Promise<never>(() => {}) };
    const mine = page({ store: hanging, clock });
    const refused = mine.binding.clear().catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await refused).toMatchObject({ code: 'UNAVAILABLE', cause: { code: 'TIMEOUT' } });
  });

  test('closed before it was read, then cleared → what was not compared is not written, and memory stays empty', async () => {
    const under = await kept('new', 5);
    const clock = virtualClock();
    let isIll = true;
    const store: CacheStore = {
      ...simple(under),
      load: () => (isIll ? Promise.reject(new Error('ill')) : under.load()),
    };
    const mine = page({ store, clock });
    await weak(mine, 'old', 3);
    await mine.client.close();
    isIll = false;
    await mine.binding.invalidate('y');
    expect(await views(under)).toEqual(['new']);
    expect(mine.binding.size.entries).toBe(0);
  });
});

describe('cache: memory', () => {
  test('a write is final at a weaker level for its caller → what was there before is not shown', async () => {
    const mine = page({});
    await fill(mine, get('x'), 'old', 1);
    const session = mine.client.session();
    const update = mine.client.invoke(put('x', 'new'), { levels: ['weak'], session });
    mine.store.last.sink.view(undefined, 'weak');
    await update;
    expect(await cachedValue(mine.client, get('x'))).toBe('miss');
    await weak(mine, 'old', 1);
    expect(await cachedValue(mine.client, get('x'))).toBe('miss');
  });

  test('the principal cannot be read when the result comes → reported; the caller gets it, and no earlier view is left', async () => {
    const onError = vi.fn<(error: unknown) => void>();
    let isKnown = true;
    const principal = (): string => {
      if (!isKnown) throw new Error('signed out');
      return 'ada';
    };
    const mine = page({ principal, onError });
    await fill(mine, get('x'), 'old');
    const update = mine.client.invokeStrong(put('x', 'new'));
    isKnown = false;
    mine.store.last.sink.view(undefined, 'strong');
    await update;
    expect(onError).toHaveBeenCalledOnce();
    expect(mine.binding.size.entries).toBe(0);
    isKnown = true;
    expect(await cachedValue(mine.client, get('x'))).toBe('miss');
  });

  test('the principal cannot be read when a write ends → the write is stored all the same', async () => {
    const store = await kept('old');
    let isKnown = true;
    const principal = (): string => {
      if (!isKnown) throw new Error('signed out');
      return '';
    };
    const mine = page({ store, principal });
    await mine.binding.ready();
    const update = mine.client.invokeStrong({
      name: 'change',
      args: {},
      key: 'x',
      access: 'write',
    });
    isKnown = false;
    mine.store.last.sink.view(undefined, 'strong');
    await update;
    expect(await cachedValue(page({ store }).client, get('x'))).toBe('miss');
  });
});

test('session: the cache has shown it a newer state than the store behind knows of → a weaker view is not shown again', async () => {
  const touches = (): readonly string[] => ['x'];
  const mine = page({ touches });
  const count = { name: 'count', args: {}, access: 'read' } as const;
  await fill(mine, get('x'), 'new');
  const session = mine.client.session();
  expect(await mine.client.invokeWeak(get('x'), { session })).toBe('new');
  const read = mine.client.invoke(count, { levels: ['weak'], session });
  mine.store.last.sink.view('old', 'weak');
  await read;
  const again = mine.client.invokeWeak(count, { session });
  await expect(again).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await cachedValue(mine.client, count)).toBe('old');
});
