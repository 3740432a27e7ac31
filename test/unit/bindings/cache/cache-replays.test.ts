/**
 * Updates that the store behind has executed before, and answers again: the cache takes nothing new
 * from them.
 */
import { expect, onTestFinished, test } from 'vitest';
import { cached, mapStore, type CachedBinding } from '../../../../src/bindings/cache/index.ts';
import { memory, memoryStore } from '../../../../src/bindings/memory/index.ts';
import type { InvocationContext } from '../../../../src/correctable/binding.ts';
import { createClient, type Client } from '../../../../src/correctable/client/client.ts';
import { get, getMany, put } from '../../../../src/operations/index.ts';
import { StoreBehind } from './store-behind.ts';

interface Replays {
  readonly client: Client<readonly ['cache', 'site']>;
  readonly binding: CachedBinding<readonly ['site']>;
}

/** Opens pages on one store behind and one store of the cache, as tabs and reloads do. */
function setUpPages(): () => Replays {
  const [server, store] = [memoryStore(), mapStore()];
  return () => {
    const binding = cached(memory({ levels: ['site'], store: server }), {
      principal: 'ann',
      store,
    });
    const client = createClient(binding);
    onTestFinished(() => client.close());
    return { binding, client };
  };
}

/** What each way leads to before the first write is repeated, and the page that repeats it. */
const ways: Readonly<Record<string, (page: Replays, open: () => Replays) => Promise<Replays>>> = {
  'by the same page': async (page) => page,
  'after the newer value was read': async (page) => {
    await page.client.invokeStrong(get('name'));
    return page;
  },
  'after a clear': async (page) => {
    await page.binding.clear();
    return page;
  },
  'after an invalidate': async (page) => {
    await page.binding.invalidate('name');
    return page;
  },
  'by another tab': async (_page, open) => {
    const other = open();
    await other.binding.ready();
    return other;
  },
  'by another tab that is not loaded yet': async (_page, open) => open(),
  'after a restart': async (page, open) => {
    await page.client.close();
    return open();
  },
  'after a restart, and a clear': async (page, open) => {
    await page.client.close();
    await page.binding.clear();
    return open();
  },
};

test.each(Object.keys(ways))(
  'a keyed put is repeated %s → no page shows its value again',
  async (way) => {
    const open = setUpPages();
    const first = open();
    await first.client.invoke(put('name', 'v1'), { idempotencyKey: 'first' });
    await first.client.invoke(put('name', 'v2'), { idempotencyKey: 'second' });
    const repeating = await ways[way]!(first, open);
    await repeating.client.invoke(put('name', 'v1'), { idempotencyKey: 'first' });
    const later = open();
    for (const { client } of [repeating, first, later]) {
      const shown = await client
        .invokeWeak(get('name'))
        .settle()
        .catch(() => undefined);
      expect([undefined, 'v2']).toContain(shown?.value);
    }
    expect(await repeating.client.invoke(get('name'))).toBe('v2');
    expect(await repeating.client.invokeWeak(get('name'))).toBe('v2');
  },
);

test('a keyed put → the views that it made old are gone', async () => {
  const { client } = setUpPages()();
  await client.invoke(put('name', 'v1'));
  await client.invoke(put('name', 'v2'), { idempotencyKey: 'second' });
  await expect(client.invokeWeak(get('name'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('a repeated put whose store executes it once → not written through; a first one without an identity is', async () => {
  const store = Object.assign(new StoreBehind(), { isExactlyOnce: true });
  const binding = cached(store);
  onTestFinished(() => binding.close());
  const { signal } = new AbortController();
  const submit = (context: Partial<InvocationContext>): void => {
    const circumstances = {
      signal,
      deadlineAt: undefined,
      session: undefined,
      trace: undefined,
      ...context,
    };
    binding.submitOperation(
      put('x', 'v'),
      ['strong'],
      { view: () => 0, confirm() {}, fail() {} },
      circumstances,
    );
    store.last.sink.view(undefined, 'strong');
  };
  submit({ operationId: 'c-1', origin: { client: 'c', sequence: 1, acknowledged: 0 } });
  expect(binding.size.entries).toBe(0);
  submit({});
  expect(binding.size.entries).toBe(1);
});

test('a session repeats a keyed put after a newer read → it is shown nothing from before', async () => {
  const store = Object.assign(new StoreBehind(), { hasIdempotencyKeys: true });
  const client = createClient(cached(store));
  onTestFinished(() => client.close());
  const session = client.session();
  const answer = async (
    value: unknown,
    version: number,
    level: 'weak' | 'strong',
    work: PromiseLike<unknown>,
  ) => {
    store.last.sink.view(value, level, { version });
    await work;
  };
  // The session learns the second state by an operation whose versions do not compare with those of
  // `get`.
  await answer(['v2'], 20, 'strong', client.invokeStrong(getMany(['x']), { session }));
  await answer(
    undefined,
    1,
    'strong',
    client.invokeStrong(put('x', 'v1'), { session, idempotencyKey: 'first' }),
  );
  await answer('v1', 1, 'weak', client.invoke(get('x'), { levels: ['weak'] }));
  await answer('v1', 1, 'weak', client.invoke(get('x'), { levels: ['weak'], session }));
  await expect(client.invokeWeak(get('x'), { session })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});
