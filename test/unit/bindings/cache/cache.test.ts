/**
 * The cache in front of a store: what is shown, what is kept, whose it is (Correctables, OSDI 2016,
 * §5.2).
 */
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { cached, mapStore } from '../../../../src/bindings/cache/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import type { Binding } from '../../../../src/correctable/binding.ts';
import type { Correctable } from '../../../../src/correctable/correctable.ts';
import type { Levels } from '../../../../src/correctable/level-types.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { get, peek, put } from '../../../../src/operations/index.ts';
import { cachedValue, fill, seen, setUp } from './set-up.ts';
import { StoreBehind, type StoreLevels } from './store-behind.ts';

/** Ends what the store does not: its time limit would come while another file runs. */
async function ended(read: Correctable<unknown, Levels, string>): Promise<void> {
  read.cancel();
  await read.catch(() => {});
}

describe('cache: levels', () => {
  test("adds level 'cache' below those of the store, in the types too", () => {
    const { binding } = setUp();
    expect(binding.consistencyLevels()).toEqual(['cache', 'tentative', 'weak', 'strong']);
    expectTypeOf(binding.consistencyLevels()).toEqualTypeOf<
      readonly ['cache', 'tentative', 'weak', 'strong']
    >();
  });

  test('a miss → a skipped level, never undefined', async () => {
    const { store, client } = setUp();
    const views = seen(client.invoke(get('x')));
    store.last.sink.view(1, 'weak');
    store.last.sink.view(2, 'strong');
    expect(await views).toEqual(['weak=1', 'strong=2!']);
  });

  test('a hit → the cached view first, with its version, age and level, then those of the store', async () => {
    const shop = setUp({ now: () => 1_234 });
    await fill(shop, get('x'), 1, 7);
    const read = shop.client.invoke(get('x'));
    expect(read.latest).toMatchObject({ value: 1, level: 'cache', version: 7, final: false });
    expect(read.latest?.meta).toEqual({ cachedAt: 1_234, cachedFrom: 'strong' });
    const views = seen(read);
    shop.store.last.sink.view(2, 'strong', { version: 8 });
    expect(await views).toEqual(['cache=1', 'strong=2!']);
  });

  test('an absent value was cached → a hit whose value is undefined', async () => {
    const shop = setUp();
    await fill(shop, get('x'), undefined);
    expect((await shop.client.invokeWeak(get('x')).settle()).level).toBe('cache');
  });

  test('invokeStrong → never reads the cache, but refreshes it', async () => {
    const shop = setUp();
    await fill(shop, get('x'), 1);
    const read = shop.client.invokeStrong(get('x'));
    expect(read.latest).toBeUndefined();
    expect(shop.store.last.levels).toEqual(['strong']);
    shop.store.last.sink.view(2, 'strong');
    expect(await read).toBe(2);
    expect(await cachedValue(shop.client, get('x'))).toBe(2);
  });

  test('invokeWeak, a hit → final from the cache alone', async () => {
    const shop = setUp();
    await fill(shop, get('x'), 1);
    const before = shop.store.submitted.length;
    const view = await shop.client.invokeWeak(get('x')).settle();
    expect(view).toMatchObject({ value: 1, level: 'cache', final: true });
    expect(shop.store.submitted).toHaveLength(before);
  });

  test('invokeWeak, a miss → UNAVAILABLE, the store is not asked', async () => {
    const { store, client } = setUp();
    await expect(client.invokeWeak(get('x'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining("'get' of 'x' is not in the cache"),
    });
    expect(store.submitted).toHaveLength(0);
  });

  test("onMiss 'fetch': a miss → the store's weakest level answers, labeled as such", async () => {
    const { store, client } = setUp({ onMiss: 'fetch' });
    const read = client.invokeWeak(get('x')).settle();
    expect(store.last.levels).toEqual(['tentative']);
    store.last.sink.view(1, 'weak');
    expect(await read).toMatchObject({ value: 1, level: 'weak', final: true });
  });

  test("onMiss 'fetch', offline: a miss → UNAVAILABLE that names both causes", async () => {
    const { store, client } = setUp({ onMiss: 'fetch' });
    const read = client.invokeWeak(get('x'));
    store.last.sink.fail(
      Object.assign(new Error('no route'), { name: 'CorrectableError', code: 'UNAVAILABLE' }),
    );
    await expect(read).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: "'get' of 'x' is not in the cache and the store behind is unavailable: retry later",
    });
  });

  test('a write asked for at level cache → the store executes it and answers', async () => {
    const { store, client } = setUp();
    const write = client.invokeWeak(put('x', 1)).settle();
    expect(store.last.levels).toEqual(['tentative', 'strong']);
    store.last.sink.view(undefined, 'strong');
    expect(await write).toMatchObject({ level: 'strong', final: true });
  });
});

describe('cache: what enters', () => {
  test('tentative views never do, even when they are final', async () => {
    const { store, client } = setUp();
    const read = client.invoke(get('x'), { levels: ['tentative'] });
    store.last.sink.view(1, 'tentative');
    await read;
    expect(await cachedValue(client, get('x'))).toBe('miss');
  });

  test('committed: only views of the levels that it names', async () => {
    const { store, client } = setUp({ committedLevels: ['strong'] });
    const read = client.invoke(get('x'));
    store.last.sink.view(1, 'weak');
    expect(await cachedValue(client, get('x'))).toBe('miss');
    store.last.sink.view(2, 'strong');
    await read;
    expect(await cachedValue(client, get('x'))).toBe(2);
  });

  test('a preliminary at a committed level → does, before the final', async () => {
    const { store, client } = setUp();
    const read = client.invoke(get('x'));
    store.last.sink.view(1, 'weak');
    expect(await cachedValue(client, get('x'))).toBe(1);
    await ended(read);
  });

  test('a confirmation without payload → the value that it confirms, at the level confirmed', async () => {
    const { store, client } = setUp({ committedLevels: ['strong'] });
    const read = client.invoke(get('x'));
    const seq = store.last.sink.view(1, 'weak', { version: 3 });
    store.last.sink.confirm('strong', seq);
    expect(await read).toBe(1);
    expect((await client.invokeWeak(get('x')).settle()).meta).toMatchObject({
      cachedFrom: 'strong',
    });
  });

  test('a confirmation of a view that the client did not want → reaches it as a view', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 1), { levels: ['weak'] });
    const seq = store.last.sink.view('r', 'tentative', { meta: { a: 1 } });
    store.last.sink.confirm('weak', seq, { meta: { b: 2 } });
    expect(await write.settle()).toMatchObject({ value: 'r', level: 'weak', meta: { a: 1, b: 2 } });
  });

  test('a confirmation of no view → PROTOCOL', async () => {
    const { store, client } = setUp();
    const read = client.invoke(get('x'));
    store.last.sink.confirm('strong', 5);
    await expect(read).rejects.toMatchObject({ code: 'PROTOCOL' });
  });

  test('an older version never replaces a newer one, a newer one always does, whatever its level', async () => {
    const shop = setUp();
    const early = shop.client.invoke(get('x'));
    const slow = shop.store.last;
    await fill(shop, get('x'), 'new', 5);
    slow.sink.view('outrun', 'strong', { version: 4 });
    await early;
    expect(await cachedValue(shop.client, get('x'))).toBe('new');
    const late = shop.client.invoke(get('x'));
    shop.store.last.sink.view('lagging', 'weak', { version: 4 });
    expect(await cachedValue(shop.client, get('x'))).toBe('new');
    shop.store.last.sink.view('newer', 'weak', { version: 6 });
    expect(await cachedValue(shop.client, get('x'))).toBe('newer');
    await ended(late);
  });

  test('the store behind goes on from a backup, with lower versions → its present views replace cached ones', async () => {
    const shop = setUp();
    await fill(shop, get('x'), 'before', 5);
    await fill(shop, get('x'), 'from the backup', 2);
    expect(await cachedValue(shop.client, get('x'))).toBe('from the backup');
    const write = shop.client.invokeStrong(put('x', 'mine'));
    shop.store.last.sink.view(undefined, 'strong', { version: 1 });
    await write;
    expect(await cachedValue(shop.client, get('x'))).toBe('mine');
  });

  test.each([
    ['a read that began earlier', 'strong'],
    ['a weaker view', 'weak'],
  ] as const)(
    'without versions: %s differs → neither is kept until the next view of the store',
    async (_, level) => {
      const shop = setUp();
      const early = shop.client.invoke(get('x'));
      const slow = shop.store.last;
      await fill(shop, get('x'), 'strong');
      slow.sink.view('newer or older', level);
      expect(await cachedValue(shop.client, get('x'))).toBe('miss');
      shop.client.invoke(get('x'));
      shop.store.last.sink.view('lagging', 'weak');
      expect(await cachedValue(shop.client, get('x'))).toBe('miss');
      // The views of one operation come in order.
      shop.store.last.sink.view('now', 'strong');
      expect(await cachedValue(shop.client, get('x'))).toBe('now');
      await ended(early);
    },
  );

  test('without versions: the final of an operation differs from its preliminary view → the final is kept', async () => {
    const shop = setUp();
    for (const cachedBefore of ['nothing', 'first', 'weak']) {
      if (cachedBefore !== 'nothing') await fill(shop, get('x'), cachedBefore);
      shop.client.invoke(get('x'));
      shop.store.last.sink.view('weak', 'weak');
      shop.store.last.sink.view(`strong after ${cachedBefore}`, 'strong');
      expect(await cachedValue(shop.client, get('x'))).toBe(`strong after ${cachedBefore}`);
    }
  });

  test("a binding's own order of versions decides", async () => {
    const store = new StoreBehind();
    const byLength = (version: unknown, than: unknown): boolean =>
      String(version).length < String(than).length;
    const client = createClient(cached(Object.assign(store, { isOlder: byLength })));
    for (const [value, version] of [
      ['new', 'zzz'],
      ['old', 'zz'],
    ] as const) {
      const read = client.invoke(get('x'), { levels: ['weak'] });
      store.last.sink.view(value, 'weak', { version });
      await read;
    }
    expect(await cachedValue(client, get('x'))).toBe('new');
  });

  test('arguments: equal in another key order → one view; different → another', async () => {
    const shop = setUp();
    const find = (args: object): Operation => ({ name: 'find', args, access: 'read' });
    await fill(shop, find({ tag: 'a', since: new Date(5), limit: 2n }), 1);
    expect(
      await cachedValue(
        shop.client,
        find({ limit: 2n, since: new Date(5), tag: 'a', more: undefined }),
      ),
    ).toBe(1);
    expect(await cachedValue(shop.client, find({ limit: 2, since: new Date(5), tag: 'a' }))).toBe(
      'miss',
    );
    expect(await cachedValue(shop.client, find({ limit: 2n, since: new Date(6), tag: 'a' }))).toBe(
      'miss',
    );
  });

  test('cacheable: reads that it excludes, and those whose arguments are no plain data → are not kept', async () => {
    const shop = setUp({ isCacheable: ({ name }) => name !== 'peek' });
    await fill(shop, peek('q'), { item: 1 });
    await fill(shop, { name: 'find', args: { by: () => true }, access: 'read' }, 1);
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    await fill(shop, { name: 'find', args: cyclic, access: 'read' }, 1);
    expect(shop.binding.size.entries).toBe(0);
  });

  test('the application changes the value that it was given → the cache does not', async () => {
    const shop = setUp();
    const value = { list: [1] };
    const meta = { tags: ['a'] };
    const read = shop.client.invoke(get('x'));
    shop.store.last.sink.view(value, 'strong', { meta });
    await read;
    value.list.push(2);
    meta.tags.push('b');
    const first = (await cachedValue(shop.client, get('x'))) as { list: number[] };
    first.list.push(3);
    const second = await shop.client.invokeWeak(get('x')).settle();
    expect(second).toMatchObject({ value: { list: [1] }, meta: { tags: ['a'] } });
  });

  test('a value that cannot be copied → is not kept, and reported', async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const shop = setUp({ onError });
    await fill(shop, get('x'), { run: () => {} });
    expect(await cachedValue(shop.client, get('x'))).toBe('miss');
    // The report names the operation, neither its arguments nor its principal.
    const message =
      "cache: of 'get', value.run is a function, thus not kept: give plain data, or exclude the operation by 'isCacheable'";
    expect(onError).toHaveBeenCalledWith(
      expect.objectContaining({ code: 'INVALID_VALUE', message }),
    );
  });
});

describe('cache: principals', () => {
  test('no user is shown what was cached for another; signing out and in takes effect at once', async () => {
    let user = 'ada';
    const store = mapStore();
    const shop = setUp({ principal: () => user, store });
    await fill(shop, get('inbox'), 'for ada');
    user = 'bob';
    expect(await cachedValue(shop.client, get('inbox'))).toBe('miss');
    expect(shop.binding.size).toEqual({ entries: 0, bytes: 0 });
    user = 'ada';
    // From the store: nothing of hers was left in memory.
    expect(await cachedValue(shop.client, get('inbox'))).toBe('for ada');
  });

  test('the binding behind has a principal → views are filed under it', async () => {
    let user = 'ada';
    const store = Object.assign(new StoreBehind(), { principal: () => user });
    const binding = cached(store);
    const client = createClient(binding);
    expect(binding.principal?.()).toBe('ada');
    await fill({ store, client }, get('inbox'), 'for ada');
    expect(await cachedValue(client, get('inbox'))).toBe('for ada');
    user = 'bob';
    expect(await cachedValue(client, get('inbox'))).toBe('miss');
  });

  test('a binding with a connection but without a principal → a function is rejected', () => {
    const store = Object.assign(new StoreBehind(), { connectionState: 'open' });
    const principal = (): string => 'ada';
    const rejection = expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'principal' });
    expect(() => cached(store, { principal })).toThrow(rejection);
    for (const value of [
      store,
      Object.assign(new StoreBehind(), { connectionState: 'open', principal }),
    ])
      expect(
        cached(value, value === store ? { principal: 'ada' } : { principal }).principal?.(),
      ).toBe('ada');
  });

  test('the cache has another principal than the binding behind → nothing is shown, with an error', async () => {
    let user = 'ada';
    const store = Object.assign(new StoreBehind(), { principal: () => user });
    const client = createClient(cached(store, { principal: 'ada' }));
    await fill({ store, client }, get('inbox'), 'for ada');
    expect(await cachedValue(client, get('inbox'))).toBe('for ada');
    user = 'bob';
    await expect(client.invokeWeak(get('inbox'))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'principal',
    });
  });

  test('the principal changes while a read is in flight → filed under none', async () => {
    let user = 'ada';
    const { store, client } = setUp({ principal: () => user });
    const read = client.invoke(get('inbox'));
    user = 'bob';
    store.last.sink.view('for ada', 'strong');
    await read;
    expect(await cachedValue(client, get('inbox'))).toBe('miss');
    user = 'ada';
    expect(await cachedValue(client, get('inbox'))).toBe('miss');
  });

  test('clear: one principal → the others keep theirs', async () => {
    let user = 'ada';
    const shop = setUp({ principal: () => user });
    await fill(shop, get('inbox'), 'for ada');
    user = 'bob';
    await fill(shop, get('inbox'), 'for bob');
    await shop.binding.clear({ principal: 'ada' });
    expect(await cachedValue(shop.client, get('inbox'))).toBe('for bob');
    user = 'ada';
    expect(await cachedValue(shop.client, get('inbox'))).toBe('miss');
  });
});

describe('cache: a store whose work is a promise', () => {
  const asyncStore = (work: () => Promise<void>): Binding<StoreLevels> => {
    const store = new StoreBehind();
    return {
      name: 'async',
      consistencyLevels: () => store.consistencyLevels(),
      supports: () => true,
      submitOperation: work,
      close: () => store.close(),
    };
  };
  const fails = (): Promise<void> => Promise.reject(new Error('ECONNREFUSED'));

  test.each([
    ['asked with the cache', undefined],
    ['asked because the cache has nothing', 'fetch'],
  ] as const)(
    '%s: it rejects → the read fails with that; it ends without a final view → CLOSED_WITHOUT_FINAL',
    async (_, onMiss) => {
      for (const [work, expected] of [
        [fails, { code: 'FINAL_FAILED', cause: { message: 'ECONNREFUSED' } }],
        [() => Promise.resolve(), { code: 'CLOSED_WITHOUT_FINAL' }],
      ] as const) {
        const client = createClient(cached(asyncStore(work), onMiss && { onMiss }));
        const read = onMiss === undefined ? client.invoke(get('x')) : client.invokeWeak(get('x'));
        expect(await read.catch((error: unknown) => error)).toMatchObject(expected);
      }
    },
  );
});

test('cache: an operation that the store lacks → UNSUPPORTED with the reason of the store', async () => {
  const reason = { supports: () => false, describeUnsupported: () => 'it has no keys' };
  const client = createClient(cached(Object.assign(new StoreBehind(), reason)));
  await expect(client.invoke(get('x'))).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringMatching(/no operation "get": it has no keys$/),
  });
});
