/** The cache in front of a store: write-through, bounds. */
import { describe, expect, test, vi } from 'vitest';
import { cached, mapStore } from '../../../../src/bindings/cache/index.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { dequeue, get, getMany, peek, put } from '../../../../src/operations/index.ts';
import { cachedValue, fill, setUp, type Shop } from './set-up.ts';
import { StoreBehind } from './store-behind.ts';

describe('cache: write-through', () => {
  async function update(
    { store, client }: { store: StoreBehind; client: Shop },
    operation: Operation,
    version?: number,
  ): Promise<void> {
    const write = client.invokeStrong(operation);
    store.last.sink.view('ok', 'strong', { version });
    await write;
  }

  test('put → its value is cached when it is final, with the version, not before', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 'new'));
    store.last.sink.view(undefined, 'weak');
    expect(await cachedValue(client, get('x'))).toBe('miss');
    store.last.sink.view(undefined, 'strong', { version: 9 });
    await write;
    expect(await client.invokeWeak(get('x')).settle()).toMatchObject({ value: 'new', version: 9 });
  });

  test('put, and its caller changes the value in place before it is final → nothing is cached of it', async () => {
    const shop = setUp();
    await fill(shop, get('x'), { n: 0 });
    const value = { n: 1 };
    const write = shop.client.invokeStrong(put('x', value));
    value.n = 2;
    shop.store.last.sink.view(null, 'strong');
    await write;
    expect(await cachedValue(shop.client, get('x'))).toBe('miss');
  });

  test('put, and its caller changes the value in place once it is final → what it was then stays', async () => {
    const shop = setUp();
    const value = { n: 1 };
    await update(shop, put('x', value));
    value.n = 2;
    expect(await cachedValue(shop.client, get('x'))).toEqual({ n: 1 });
  });

  test('put of a value that cannot be copied → the entries that it touches are dropped, which is reported once', async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const shop = setUp({ onError });
    await fill(shop, get('x'), 1);
    for (let n = 0; n < 2; n += 1) await update(shop, put('x', { by: new URL('http://a') }));
    expect(await cachedValue(shop.client, get('x'))).toBe('miss');
    expect(onError.mock.calls).toEqual([
      [expect.objectContaining({ field: 'args.value.by', code: 'INVALID_VALUE' })],
    ]);
  });

  test('put → a caller that gets the final view finds it in the cache', async () => {
    const { store, client } = setUp();
    const found = new Promise<unknown>((resolve) => {
      client
        .invokeStrong(put('x', 'new'))
        .onFinal(() => resolve(client.invokeWeak(get('x')).latest?.value));
    });
    store.last.sink.view(undefined, 'strong');
    expect(await found).toBe('new');
  });

  test('put asked for at a weaker level → the cache learns the commit all the same', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 'new'), { levels: ['weak'] });
    expect(store.last.levels).toEqual(['weak', 'strong']);
    store.last.sink.view(undefined, 'weak');
    await write;
    expect(await cachedValue(client, get('x'))).toBe('miss');
    store.last.sink.view(undefined, 'strong');
    expect(await cachedValue(client, get('x'))).toBe('new');
    expect(client.drops.closed).toBe(0);
  });

  test('put cancelled → runs to its end and is written through', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 'new'));
    write.cancel();
    await expect(write).rejects.toMatchObject({ code: 'UNKNOWN' });
    store.last.sink.view(undefined, 'strong');
    expect(await cachedValue(client, get('x'))).toBe('new');
  });

  test('another write → what it touches is dropped, in every principal, the rest is kept', async () => {
    let user = 'ada';
    const shop = setUp({ principal: () => user, store: mapStore() });
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

  test('a write that names no object → everything is dropped; a read that names none, by any write', async () => {
    const shop = setUp();
    const latest: Operation = { name: 'latestNews', args: {}, access: 'read' };
    await fill(shop, latest, ['n1']);
    await fill(shop, get('x'), 1);
    await update(shop, put('y', 1));
    expect(await cachedValue(shop.client, latest)).toBe('miss');
    expect(await cachedValue(shop.client, get('x'))).toBe(1);
    await update(shop, { name: 'reset', args: {}, access: 'write' });
    expect(await cachedValue(shop.client, get('x'))).toBe('miss');
  });

  test('touches and writeThrough: the application defines the effects of its own operations', async () => {
    const rename = (id: string, name: string): Operation => ({
      name: 'rename',
      args: { id, name },
      access: 'write',
    });
    const profile = (id: string): Operation => ({ name: 'profile', args: { id }, access: 'read' });
    const shop = setUp({
      touches: ({ args }) => [(args as { id: string }).id],
      writeThrough: ({ name, args }, result) =>
        name === 'rename'
          ? { operation: profile((args as { id: string }).id), value: result }
          : undefined,
    });
    await fill(shop, profile('7'), 'Ada');
    await fill(shop, profile('8'), 'Alan');
    await update(shop, rename('7', 'Ada L.'));
    expect(await cachedValue(shop.client, profile('7'))).toBe('ok');
    expect(await cachedValue(shop.client, profile('8'))).toBe('Alan');
  });

  test('writeThrough throws → the write is final all the same, what it touches is dropped, and it is reported', async () => {
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

  test('a read that began before the write ended → does not bring the old value back', async () => {
    const shop = setUp();
    const early = shop.client.invoke(get('x'));
    const slow = shop.store.last;
    await update(shop, put('x', 'new'));
    slow.sink.view('old', 'strong');
    await early;
    // Another client may have written 'old' since.
    expect(await cachedValue(shop.client, get('x'))).toBe('miss');
    const earlyPeek = shop.client.invoke(peek('q'));
    const slowPeek = shop.store.last;
    await update(shop, dequeue('q'));
    slowPeek.sink.view({ item: 'gone' }, 'strong');
    await earlyPeek;
    expect(await cachedValue(shop.client, peek('q'))).toBe('miss');
  });

  test('two puts overlap without versions → neither is kept: their order is unknown', async () => {
    const { store, client } = setUp();
    const writes = ['one', 'two'].map((value) => client.invokeStrong(put('x', value)));
    for (const { sink } of [...store.submitted].reverse()) sink.view(undefined, 'strong');
    await Promise.all(writes);
    expect(await cachedValue(client, get('x'))).toBe('miss');
  });

  test('two puts overlap with versions → the newer one is kept, whichever ends first', async () => {
    const { store, client } = setUp();
    const writes = ['one', 'two'].map((value) => client.invokeStrong(put('x', value)));
    const [first, second] = store.submitted;
    second?.sink.view(undefined, 'strong', { version: 2 });
    first?.sink.view(undefined, 'strong', { version: 1 });
    await Promise.all(writes);
    expect(await cachedValue(client, get('x'))).toBe('two');
  });

  test('a put fails → the cached value stays, unless a read that overlapped it gave another', async () => {
    const shop = setUp();
    await fill(shop, get('x'), 'old');
    const read = shop.client.invoke(get('x'));
    const slow = shop.store.last;
    const write = shop.client.invokeStrong(put('x', 'new'));
    shop.store.last.sink.fail(new Error('no route'));
    await expect(write).rejects.toMatchObject({ code: 'FINAL_FAILED' });
    expect(await cachedValue(shop.client, get('x'))).toBe('old');
    slow.sink.view('in between', 'strong');
    await read;
    expect(await cachedValue(shop.client, get('x'))).toBe('miss');
  });

  test('a write that fails at its commit → fails for a client that asked for less', async () => {
    const { store, client } = setUp();
    const write = client.invoke(put('x', 1), { levels: ['tentative'] });
    store.last.sink.fail(new Error('rejected'), 'strong');
    await expect(write).rejects.toMatchObject({ code: 'FINAL_FAILED' });
  });
});

describe('cache: bounds', () => {
  test('maxEntries: the least recently used leaves first', async () => {
    const shop = setUp({ maxEntries: 2 });
    await fill(shop, get('a'), 1);
    await fill(shop, get('b'), 2);
    await cachedValue(shop.client, get('a'));
    await fill(shop, get('c'), 3);
    expect(await cachedValue(shop.client, get('b'))).toBe('miss');
    expect(await cachedValue(shop.client, get('a'))).toBe(1);
    expect(shop.binding.size.entries).toBe(2);
  });

  test('maxBytes: large values leave; one that alone is too large is not kept, nor what it replaces', async () => {
    const shop = setUp({ maxBytes: 10_000 });
    await fill(shop, get('a'), 'x'.repeat(2_000));
    await fill(shop, get('b'), 'x'.repeat(2_000));
    await fill(shop, get('c'), 'x'.repeat(2_000));
    expect(await cachedValue(shop.client, get('a'))).toBe('miss');
    await fill(shop, get('c'), 'x'.repeat(20_000));
    expect(await cachedValue(shop.client, get('c'))).toBe('miss');
    expect(shop.binding.size.bytes).toBeLessThanOrEqual(10_000);
  });

  test('many writes of many keys → fences stay bounded, and forgotten ones stay safe', async () => {
    const shop = setUp({ maxEntries: 2 });
    const early = shop.client.invoke(get('k0'));
    const slow = shop.store.last;
    for (let i = 0; i < 10; i++) {
      const write = shop.client.invokeStrong(put(`k${i}`, i));
      shop.store.last.sink.view(undefined, 'strong');
      await write;
    }
    slow.sink.view('old', 'strong');
    await early;
    expect(await cachedValue(shop.client, get('k0'))).toBe('miss');
  });
});

describe('cache: options', () => {
  test('a cache in front of a cache → INVALID_ARGUMENT', () => {
    expect(() => cached(cached(new StoreBehind()))).toThrow(
      expect.objectContaining({ field: 'binding' }),
    );
  });
});
