/** The cache in front of a store: what is shown, what is kept, what is dropped (Correctables, OSDI 2016, §5.2). */
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { cached, type CacheOptions } from '../../../../src/bindings/cache/index.ts';
import { createClient, type Client } from '../../../../src/correctable/client.ts';
import type { Correctable } from '../../../../src/correctable/correctable.ts';
import type { Levels } from '../../../../src/correctable/level.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { dequeue, get, getMany, peek, put } from '../../../../src/operations/index.ts';
import { StoreBehind, type StoreLevels } from './store-behind.ts';

type Shop = Client<readonly ['cache', ...StoreLevels]>;

function setUp(options: CacheOptions<StoreLevels> = {}): {
  store: StoreBehind;
  binding: ReturnType<typeof cached<StoreLevels>>;
  client: Shop;
} {
  const store = new StoreBehind();
  const binding = cached(store, options);
  return { store, binding, client: createClient(binding) };
}

async function seen<T, L extends Levels, F extends string>(views: Correctable<T, L, F>): Promise<string[]> {
  const shown: string[] = [];
  for await (const { level, value, final } of views) shown.push(`${level}=${JSON.stringify(value)}${final ? '!' : ''}`);
  return shown;
}

/** What the cache alone has for an operation: `'miss'` where it has nothing. */
async function cachedValue(client: Shop, operation: Operation): Promise<unknown> {
  const view = await client
    .invokeWeak(operation)
    .settle()
    .catch(() => undefined);
  return view === undefined ? 'miss' : view.value;
}

/** Reads through the cache; the store answers at its strongest level. */
async function fill(
  { store, client }: { store: StoreBehind; client: Shop },
  operation: Operation,
  value: unknown,
  version?: number,
): Promise<void> {
  const read = client.invoke(operation);
  store.last.sink.update(value, 'strong', { version });
  await read;
}

describe('cache: levels', () => {
  test("adds level 'cache' below those of the store, in the types too", () => {
    const { binding } = setUp();
    expect(binding.consistencyLevels()).toEqual(['cache', 'tentative', 'weak', 'strong']);
    expectTypeOf(binding.consistencyLevels()).toEqualTypeOf<readonly ['cache', 'tentative', 'weak', 'strong']>();
  });

  test('a miss → a skipped level, never undefined', async () => {
    const { store, client } = setUp();
    const views = seen(client.invoke(get('x')));
    store.last.sink.update(1, 'weak');
    store.last.sink.update(2, 'strong');
    expect(await views).toEqual(['weak=1', 'strong=2!']);
  });

  test('a hit → the cached view first, with its version, age and level, then those of the store', async () => {
    const shop = setUp({ now: () => 1_234 });
    await fill(shop, get('x'), 1, 7);
    const read = shop.client.invoke(get('x'));
    expect(read.latest).toMatchObject({ value: 1, level: 'cache', version: 7, final: false });
    expect(read.latest?.meta).toEqual({ cachedAt: 1_234, cachedFrom: 'strong' });
    const views = seen(read);
    shop.store.last.sink.update(2, 'strong', { version: 8 });
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
    shop.store.last.sink.update(2, 'strong');
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

  test("onMiss 'fetch': a miss → the store's weakest level answers, labelled as such", async () => {
    const { store, client } = setUp({ onMiss: 'fetch' });
    const read = client.invokeWeak(get('x')).settle();
    expect(store.last.levels).toEqual(['tentative']);
    store.last.sink.update(1, 'weak');
    expect(await read).toMatchObject({ value: 1, level: 'weak', final: true });
  });

  test("onMiss 'fetch', offline: a miss → UNAVAILABLE that says both", async () => {
    const { store, client } = setUp({ onMiss: 'fetch' });
    const read = client.invokeWeak(get('x'));
    store.last.sink.fail(Object.assign(new Error('no route'), { name: 'CorrectableError', code: 'UNAVAILABLE' }));
    await expect(read).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: "'get' of 'x' is not in the cache and the store behind is unavailable: retry later",
    });
  });

  test('offline: a hit, then the store fails → settle orLatest gives the cached view', async () => {
    const shop = setUp();
    await fill(shop, get('x'), 1);
    const view = shop.client.invoke(get('x')).settle({ orLatest: true });
    shop.store.last.sink.fail(new Error('no route'));
    expect(await view).toMatchObject({ value: 1, level: 'cache', final: false });
  });

  test('an update asked for at level cache → the store executes it and answers', async () => {
    const { store, client } = setUp();
    const write = client.invokeWeak(put('x', 1)).settle();
    expect(store.last.levels).toEqual(['tentative', 'strong']);
    store.last.sink.update(undefined, 'strong');
    expect(await write).toMatchObject({ level: 'strong', final: true });
  });

  test('an operation that the store does not support → UNSUPPORTED', async () => {
    const { client } = setUp();
    const operation: Operation = { name: 'unheard-of', args: {}, effect: 'read' };
    await expect(client.invoke(operation)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });
});

describe('cache: what enters', () => {
  test('tentative views never do, even when they are final', async () => {
    const { store, client } = setUp();
    const read = client.invoke(get('x'), { levels: ['tentative'] });
    store.last.sink.update(1, 'tentative');
    await read;
    expect(await cachedValue(client, get('x'))).toBe('miss');
  });

  test('committed: only views of the levels that it names', async () => {
    const { store, client } = setUp({ committed: ['strong'] });
    const read = client.invoke(get('x'));
    store.last.sink.update(1, 'weak');
    expect(await cachedValue(client, get('x'))).toBe('miss');
    store.last.sink.update(2, 'strong');
    await read;
    expect(await cachedValue(client, get('x'))).toBe(2);
  });

  test('a preliminary at a committed level → does, before the final', async () => {
    const { store, client } = setUp();
    client.invoke(get('x'));
    store.last.sink.update(1, 'weak');
    expect(await cachedValue(client, get('x'))).toBe(1);
  });

  test('a confirmation without payload → the value that it confirms, at the level confirmed', async () => {
    const { store, client } = setUp({ committed: ['strong'] });
    const read = client.invoke(get('x'));
    const seq = store.last.sink.update(1, 'weak', { version: 3 });
    store.last.sink.confirm('strong', seq);
    expect(await read).toBe(1);
    expect((await client.invokeWeak(get('x')).settle()).meta).toMatchObject({ cachedFrom: 'strong' });
  });

  test('a confirmation of a view that the client did not want → reaches it as a view', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 1), { levels: ['weak'] });
    const seq = store.last.sink.update('r', 'tentative', { meta: { a: 1 } });
    store.last.sink.confirm('weak', seq, { meta: { b: 2 } });
    expect(await write.settle()).toMatchObject({ value: 'r', level: 'weak', meta: { a: 1, b: 2 } });
  });

  test('a confirmation of no view → PROTOCOL', async () => {
    const { store, client } = setUp();
    const read = client.invoke(get('x'));
    store.last.sink.confirm('strong', 5);
    await expect(read).rejects.toMatchObject({ code: 'PROTOCOL' });
  });

  test('an older version never replaces a newer one, whatever its level', async () => {
    const shop = setUp();
    await fill(shop, get('x'), 'new', 5);
    await fill(shop, get('x'), 'old', 4);
    expect(await cachedValue(shop.client, get('x'))).toBe('new');
    shop.client.invoke(get('x'));
    shop.store.last.sink.update('newer', 'weak', { version: 6 });
    expect(await cachedValue(shop.client, get('x'))).toBe('newer');
  });

  test('without versions: a weaker view never replaces a stronger one, a read begun earlier never a later one', async () => {
    const shop = setUp();
    const early = shop.client.invoke(get('x'));
    const slow = shop.store.last;
    await fill(shop, get('x'), 'strong');
    slow.sink.update('outrun', 'strong');
    await early;
    expect(await cachedValue(shop.client, get('x'))).toBe('strong');
    shop.client.invoke(get('x'));
    shop.store.last.sink.update('lagging', 'weak');
    expect(await cachedValue(shop.client, get('x'))).toBe('strong');
  });

  test("a binding's own order of versions decides", async () => {
    const store = new StoreBehind();
    const byLength = (version: unknown, than: unknown): boolean => String(version).length < String(than).length;
    const client = createClient(cached(Object.assign(store, { isOlder: byLength })));
    for (const [value, version] of [
      ['new', 'zzz'],
      ['old', 'zz'],
    ] as const) {
      const read = client.invoke(get('x'));
      store.last.sink.update(value, 'strong', { version });
      await read;
    }
    expect(await cachedValue(client, get('x'))).toBe('new');
  });

  test('arguments: equal in another key order → one view; different → another', async () => {
    const shop = setUp();
    const find = (args: object): Operation => ({ name: 'find', args, effect: 'read' });
    await fill(shop, find({ tag: 'a', since: new Date(5), limit: 2n }), 1);
    expect(await cachedValue(shop.client, find({ limit: 2n, since: new Date(5), tag: 'a', more: undefined }))).toBe(1);
    expect(await cachedValue(shop.client, find({ limit: 2, since: new Date(5), tag: 'a' }))).toBe('miss');
    expect(await cachedValue(shop.client, find({ limit: 2n, since: new Date(6), tag: 'a' }))).toBe('miss');
  });

  test('cacheable: reads that it excludes, and those whose arguments are no plain data → are not kept', async () => {
    const shop = setUp({ cacheable: ({ name }) => name !== 'peek' });
    await fill(shop, peek('q'), { item: 1 });
    await fill(shop, { name: 'find', args: { by: () => true }, effect: 'read' }, 1);
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    await fill(shop, { name: 'find', args: cyclic, effect: 'read' }, 1);
    expect(shop.binding.size.entries).toBe(0);
  });

  test('the application changes the value that it was given → the cache does not', async () => {
    const shop = setUp();
    const value = { list: [1] };
    const meta = { tags: ['a'] };
    const read = shop.client.invoke(get('x'));
    shop.store.last.sink.update(value, 'strong', { meta });
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
    const message = "cache: a value of 'get' is no plain data: exclude the operation by 'cacheable'";
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'INVALID_VALUE', message }));
  });
});

describe('cache: principals', () => {
  test('nobody is shown what was cached for another; signing out and in takes effect at once', async () => {
    let user = 'ada';
    const shop = setUp({ principal: () => user });
    await fill(shop, get('inbox'), 'for ada');
    user = 'bob';
    expect(await cachedValue(shop.client, get('inbox'))).toBe('miss');
    user = 'ada';
    expect(await cachedValue(shop.client, get('inbox'))).toBe('for ada');
  });

  test('the principal changes while a read is under way → filed under who asked', async () => {
    let user = 'ada';
    const { store, client } = setUp({ principal: () => user });
    const read = client.invoke(get('inbox'));
    user = 'bob';
    store.last.sink.update('for ada', 'strong');
    await read;
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

describe('cache: write-through', () => {
  async function update(
    { store, client }: { store: StoreBehind; client: Shop },
    operation: Operation,
    version?: number,
  ): Promise<void> {
    const write = client.invokeStrong(operation);
    store.last.sink.update('ok', 'strong', { version });
    await write;
  }

  test('put → its value is cached when it is final, with the version, not before', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 'new'));
    store.last.sink.update(undefined, 'weak');
    expect(await cachedValue(client, get('x'))).toBe('miss');
    store.last.sink.update(undefined, 'strong', { version: 9 });
    await write;
    expect(await client.invokeWeak(get('x')).settle()).toMatchObject({ value: 'new', version: 9 });
  });

  test('put → who is told that it is final finds it in the cache', async () => {
    const { store, client } = setUp();
    const found = new Promise<unknown>((resolve) => {
      client.invokeStrong(put('x', 'new')).onFinal(() => resolve(client.invokeWeak(get('x')).latest?.value));
    });
    store.last.sink.update(undefined, 'strong');
    expect(await found).toBe('new');
  });

  test('put asked for at a weaker level → the cache learns the commit all the same', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 'new'), { levels: ['weak'] });
    expect(store.last.levels).toEqual(['weak', 'strong']);
    store.last.sink.update(undefined, 'weak');
    await write;
    expect(await cachedValue(client, get('x'))).toBe('miss');
    store.last.sink.update(undefined, 'strong');
    expect(await cachedValue(client, get('x'))).toBe('new');
    expect(client.drops.closed).toBe(0);
  });

  test('put cancelled → runs to its end and is written through', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 'new'));
    write.cancel();
    await expect(write).rejects.toMatchObject({ code: 'UNKNOWN' });
    store.last.sink.update(undefined, 'strong');
    expect(await cachedValue(client, get('x'))).toBe('new');
  });

  test('another update → what it touches is dropped, in every principal, the rest is kept', async () => {
    let user = 'ada';
    const shop = setUp({ principal: () => user });
    await fill(shop, peek('q'), { item: 1 });
    await fill(shop, getMany(['a', 'q']), [1, 2]);
    await fill(shop, get('a'), 1);
    user = 'bob';
    await fill(shop, peek('q'), { item: 1 });
    await update(shop, dequeue('q'));
    expect(await cachedValue(shop.client, peek('q'))).toBe('miss');
    user = 'ada';
    expect(await cachedValue(shop.client, peek('q'))).toBe('miss');
    expect(await cachedValue(shop.client, getMany(['a', 'q']))).toBe('miss');
    expect(await cachedValue(shop.client, get('a'))).toBe(1);
  });

  test('an update that names no object → everything is dropped; a read that names none, by any update', async () => {
    const shop = setUp();
    const latest: Operation = { name: 'latestNews', args: {}, effect: 'read' };
    await fill(shop, latest, ['n1']);
    await fill(shop, get('x'), 1);
    await update(shop, put('y', 1));
    expect(await cachedValue(shop.client, latest)).toBe('miss');
    expect(await cachedValue(shop.client, get('x'))).toBe(1);
    await update(shop, { name: 'reset', args: {}, effect: 'update' });
    expect(await cachedValue(shop.client, get('x'))).toBe('miss');
  });

  test('touches and writeThrough: the application says what its own operations do', async () => {
    const rename = (id: string, name: string): Operation => ({ name: 'rename', args: { id, name }, effect: 'update' });
    const profile = (id: string): Operation => ({ name: 'profile', args: { id }, effect: 'read' });
    const shop = setUp({
      touches: ({ args }) => [(args as { id: string }).id],
      writeThrough: ({ name, args }, result) =>
        name === 'rename' ? { operation: profile((args as { id: string }).id), value: result } : undefined,
    });
    await fill(shop, profile('7'), 'Ada');
    await fill(shop, profile('8'), 'Alan');
    await update(shop, rename('7', 'Ada L.'));
    expect(await cachedValue(shop.client, profile('7'))).toBe('ok');
    expect(await cachedValue(shop.client, profile('8'))).toBe('Alan');
  });

  test('writeThrough throws → the update is final all the same, what it touches is dropped, and it is reported', async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const mistake = new Error('mistake');
    const writeThrough = (): never => {
      throw mistake;
    };
    const shop = setUp({ writeThrough, onError });
    await fill(shop, get('x'), 1);
    await update(shop, put('x', 2));
    expect(await cachedValue(shop.client, get('x'))).toBe('miss');
    expect(onError).toHaveBeenCalledWith(mistake);
  });

  test('a read that began before the update ended → does not bring the old value back', async () => {
    const shop = setUp();
    const early = shop.client.invoke(get('x'));
    const slow = shop.store.last;
    await update(shop, put('x', 'new'));
    slow.sink.update('old', 'strong');
    await early;
    expect(await cachedValue(shop.client, get('x'))).toBe('new');
    const earlyPeek = shop.client.invoke(peek('q'));
    const slowPeek = shop.store.last;
    await update(shop, dequeue('q'));
    slowPeek.sink.update({ item: 'gone' }, 'strong');
    await earlyPeek;
    expect(await cachedValue(shop.client, peek('q'))).toBe('miss');
  });

  test('two puts overlap without versions → neither is kept: nothing tells which came last', async () => {
    const { store, client } = setUp();
    const writes = ['one', 'two'].map((value) => client.invokeStrong(put('x', value)));
    for (const { sink } of [...store.submitted].reverse()) sink.update(undefined, 'strong');
    await Promise.all(writes);
    expect(await cachedValue(client, get('x'))).toBe('miss');
  });

  test('two puts overlap with versions → the newer one is kept, whichever ends first', async () => {
    const { store, client } = setUp();
    const writes = ['one', 'two'].map((value) => client.invokeStrong(put('x', value)));
    const [first, second] = store.submitted;
    second?.sink.update(undefined, 'strong', { version: 2 });
    first?.sink.update(undefined, 'strong', { version: 1 });
    await Promise.all(writes);
    expect(await cachedValue(client, get('x'))).toBe('two');
  });

  test('a put fails → the cached value stays, a read that overlapped it is not kept', async () => {
    const shop = setUp();
    await fill(shop, get('x'), 'old');
    const read = shop.client.invoke(get('x'));
    const slow = shop.store.last;
    const write = shop.client.invokeStrong(put('x', 'new'));
    shop.store.last.sink.fail(new Error('no route'));
    await expect(write).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    slow.sink.update('in between', 'strong');
    await read;
    expect(await cachedValue(shop.client, get('x'))).toBe('old');
  });

  test('an update that fails at its commit → fails for a client that asked for less', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 1), { levels: ['tentative'] });
    store.last.sink.fail(new Error('rejected'), 'strong');
    await expect(write).rejects.toMatchObject({ code: 'FINAL_FAILED' });
  });
});

describe('cache: bounds', () => {
  test('entriesMax: the least recently used leaves first', async () => {
    const shop = setUp({ entriesMax: 2 });
    await fill(shop, get('a'), 1);
    await fill(shop, get('b'), 2);
    await cachedValue(shop.client, get('a'));
    await fill(shop, get('c'), 3);
    expect(await cachedValue(shop.client, get('b'))).toBe('miss');
    expect(await cachedValue(shop.client, get('a'))).toBe(1);
    expect(shop.binding.size.entries).toBe(2);
  });

  test('bytesMax: large values leave; one that alone is too large is not kept, nor what it replaces', async () => {
    const shop = setUp({ bytesMax: 10_000 });
    await fill(shop, get('a'), 'x'.repeat(2_000));
    await fill(shop, get('b'), 'x'.repeat(2_000));
    await fill(shop, get('c'), 'x'.repeat(2_000));
    expect(await cachedValue(shop.client, get('a'))).toBe('miss');
    await fill(shop, get('c'), 'x'.repeat(20_000));
    expect(await cachedValue(shop.client, get('c'))).toBe('miss');
    expect(shop.binding.size.bytes).toBeLessThanOrEqual(10_000);
  });

  test('many updates of many keys → fences stay bounded, and forgotten ones stay safe', async () => {
    const shop = setUp({ entriesMax: 2 });
    const early = shop.client.invoke(get('k0'));
    const slow = shop.store.last;
    for (let i = 0; i < 10; i++) {
      const write = shop.client.invokeStrong(put(`k${i}`, i));
      shop.store.last.sink.update(undefined, 'strong');
      await write;
    }
    slow.sink.update('old', 'strong');
    await early;
    expect(await cachedValue(shop.client, get('k0'))).toBe('miss');
  });

  test('invalidate: what depends on the key is dropped', async () => {
    const shop = setUp();
    await fill(shop, get('a'), 1);
    await fill(shop, get('b'), 2);
    await shop.binding.invalidate('a');
    expect(await cachedValue(shop.client, get('a'))).toBe('miss');
    expect(await cachedValue(shop.client, get('b'))).toBe(2);
  });
});

describe('cache: closing and options', () => {
  test('close → closes the store behind', async () => {
    const { store, client } = setUp();
    await client.close();
    expect(store.isClosed).toBe(true);
  });

  test.each([
    ['committed', { committed: ['quorum'] }],
    ['entriesMax', { entriesMax: 0 }],
    ['bytesMax', { bytesMax: 1.5 }],
    ['onMiss', { onMiss: 'ignore' }],
  ])('bad %s → INVALID_ARGUMENT names it', (field, options) => {
    const make = cached as (binding: StoreBehind, options: unknown) => unknown;
    expect(() => make(new StoreBehind(), options)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
    );
  });

  test('a cache in front of a cache → INVALID_ARGUMENT', () => {
    expect(() => cached(cached(new StoreBehind()))).toThrow(expect.objectContaining({ field: 'binding' }));
  });
});
