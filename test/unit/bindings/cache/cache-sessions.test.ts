/**
 * Sessions through a cache: it never shows a session something older than the session has seen or
 * written.
 */
// @rule CACHE-3, CACHE-10
import { describe, expect, test } from 'vitest';
import { cached } from '../../../../src/bindings/cache/index.ts';
import {
  createClient,
  type Client,
  type Session,
} from '../../../../src/correctable/client/client.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { get, getMany, put } from '../../../../src/operations/index.ts';
import { setUp as setUpWith } from './set-up.ts';
import { StoreBehind, type StoreLevels } from './store-behind.ts';

interface Shop {
  readonly store: StoreBehind;
  readonly client: Client<readonly ['cache', ...StoreLevels]>;
}

interface Answer {
  readonly value?: unknown;
  readonly version?: number;
  readonly level?: string;
}

function setUp(maxEntries = 100): Shop {
  const store = new StoreBehind();
  return { store, client: createClient(cached(store, { maxEntries })) };
}

/** Asks the store alone, in a session or none; the store answers. */
async function ask(
  { store, client }: Shop,
  operation: Operation,
  answer: Answer,
  session?: Session,
): Promise<void> {
  const { value, version, level = 'strong' } = answer;
  const requested = client.invoke(operation, { levels: [level as 'strong'], session });
  store.last.sink.view(value, level, { version });
  await requested;
}

async function cachedIn(
  { client }: Shop,
  session: Session,
  operation: Operation,
): Promise<unknown> {
  const view = await client
    .invokeWeak(operation, { session })
    .settle()
    .catch(() => undefined);
  return view === undefined ? 'miss' : view.value;
}

/**
 * A session with room for one object, whose put of `x` is under way while it reads a newer version
 * of it.
 */
async function startOvertakenPut(): Promise<{
  shop: Shop;
  session: Session;
  endPut: () => Promise<void>;
}> {
  const shop = setUp(1);
  const session = shop.client.session();
  const write = shop.client.invokeStrong(put('x', 'mine'), { session });
  const { sink } = shop.store.last;
  await ask(shop, get('x'), { value: 'later than mine', version: 2 }, session);
  return {
    shop,
    session,
    async endPut() {
      sink.view(undefined, 'strong', { version: 1 });
      await write;
    },
  };
}

describe('cache: sessions', () => {
  test("the store gets its own session, not the cache's", async () => {
    const shop = setUp();
    const session = shop.client.session();
    await ask(shop, get('x'), { value: 1 }, session);
    expect(shop.store.last.context.session).toBe(shop.store.sessions[0]);
    expect(shop.store.last.context.signal.aborted).toBe(false);
    expect(shop.store.last.context.deadlineAt).toBeTypeOf('number');
  });

  test('the store reports that a write was not sent → the error of a cancelled write has that', async () => {
    const shop = setUp();
    const codes: string[] = [];
    for (const mayHaveBeenSent of [true, false]) {
      const update = shop.client.invoke(put('x', 1), { session: shop.client.session() });
      update.onError(({ code }) => codes.push(code));
      shop.store.last.context.submissionStatus = { mayHaveBeenSent, blockedBy: undefined };
      update.cancel();
    }
    expect(codes).toEqual(['UNKNOWN', 'ABORTED']);
  });

  test('a store without sessions → UNSUPPORTED', () => {
    const store = Object.assign(new StoreBehind(), { openSession: undefined });
    expect(() => createClient(cached(store)).session()).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED' }),
    );
  });

  test('read your writes: own put → its value from the cache', async () => {
    const shop = setUp();
    const session = shop.client.session();
    await ask(shop, put('x', 'mine'), {}, session);
    expect(await cachedIn(shop, session, get('x'))).toBe('mine');
  });

  test('read your writes: after own put, another client caches a lagging view → skipped in the session', async () => {
    const shop = setUp();
    const session = shop.client.session();
    await ask(shop, put('x', 'mine'), { version: 5 }, session);
    await ask(shop, getMany(['x', 'y']), { value: ['lagging'], level: 'weak' });
    expect(await cachedIn(shop, session, getMany(['x', 'y']))).toBe('miss');
    await ask(shop, getMany(['x', 'y']), { value: ['mine'] });
    expect(await cachedIn(shop, session, getMany(['x', 'y']))).toEqual(['mine']);
  });

  test('monotonic reads: evicted, then an older version cached by another → skipped in the session, shown in another', async () => {
    const shop = setUp(1);
    const session = shop.client.session();
    await ask(shop, get('x'), { value: 'new', version: 5 }, session);
    await ask(shop, get('other'), { value: 1 });
    await ask(shop, get('x'), { value: 'old', version: 4, level: 'weak' });
    expect(await cachedIn(shop, session, get('x'))).toBe('miss');
    expect(await cachedIn(shop, shop.client.session(), get('x'))).toBe('old');
  });

  test('monotonic reads: the same version, or a newer one → shown', async () => {
    const shop = setUp();
    const session = shop.client.session();
    await ask(shop, get('x'), { value: 'a', version: 5 }, session);
    expect(await cachedIn(shop, session, get('x'))).toBe('a');
    await ask(shop, get('x'), { value: 'b', version: 6, level: 'weak' });
    expect(await cachedIn(shop, session, get('x'))).toBe('b');
  });

  test.each([true, false])(
    'monotonic reads: read while a put is in flight, by the session itself: %s → the put does not hide what was read',
    async (isOwn) => {
      const shop = setUp();
      const session = shop.client.session();
      const write = shop.client.invokeStrong(put('x', 'mine'), isOwn ? { session } : {});
      const { sink } = shop.store.last;
      await ask(shop, get('x'), { value: 'later than mine' }, session);
      sink.view(undefined, 'strong');
      await write;
      expect(await cachedIn(shop, session, get('x'))).toBe('miss');
      await ask(shop, get('x'), { value: 'later than mine' }, session);
      expect(await cachedIn(shop, session, get('x'))).toBe('later than mine');
    },
  );

  test('monotonic reads: own put ends with an older version than was read → that version is skipped', async () => {
    const { shop, session, endPut } = await startOvertakenPut();
    await endPut();
    await ask(shop, get('other'), { value: 1 });
    await ask(shop, get('x'), { value: 'mine', version: 1, level: 'weak' });
    expect(await cachedIn(shop, session, get('x'))).toBe('miss');
  });

  test('a write of the session that names no object → only what was read at the strongest level since is shown', async () => {
    const shop = setUp();
    const session = shop.client.session();
    await ask(shop, { name: 'reset', args: {}, access: 'write' }, {}, session);
    await ask(shop, get('x'), { value: 'lagging', version: 9, level: 'weak' });
    expect(await cachedIn(shop, session, get('x'))).toBe('miss');
    await ask(shop, get('x'), { value: 'fresh', version: 9 });
    expect(await cachedIn(shop, session, get('x'))).toBe('fresh');
  });

  test.each([get('x'), { name: 'feed', args: {}, access: 'read' } as const])(
    'a restored backup: $name is read at a weaker level after another operation → no view from before it is shown',
    async (operation) => {
      const shop = setUp();
      await ask(shop, operation, { value: 'lost', version: 5 });
      const session = shop.client.session();
      await ask(shop, getMany(['x']), { value: ['restored'], version: 1 }, session);
      for (const value of ['restored', 'restored again']) {
        await ask(shop, operation, { value, version: 1, level: 'weak' }, session);
        expect(await cachedIn(shop, session, operation)).toBe('miss');
      }
      await ask(shop, operation, { value: 'restored', version: 1 }, session);
      expect(await cachedIn(shop, session, operation)).toBe('restored');
    },
  );

  test('more objects than the session can remember → forgotten ones are not read from the cache', async () => {
    const shop = setUp(3);
    const session = shop.client.session();
    for (const key of ['a', 'b', 'c', 'd'])
      await ask(shop, get(key), { value: key, version: 5 }, session);
    await ask(shop, get('a'), { value: 'older', version: 1, level: 'weak' });
    expect(await cachedIn(shop, session, get('a'))).toBe('miss');
    expect(await cachedIn(shop, session, get('d'))).toBe('d');
    await ask(shop, get('a'), { value: 'read since', version: 6 });
    expect(await cachedIn(shop, session, get('a'))).toBe('read since');
  });

  test('own put that ends after a newer read was forgotten → its version is skipped', async () => {
    const { shop, session, endPut } = await startOvertakenPut();
    await ask(shop, get('other'), { value: 1, version: 1 }, session);
    await ask(shop, get('x'), { value: 'older', version: 0, level: 'weak' });
    await endPut();
    expect(await cachedIn(shop, session, get('x'))).toBe('miss');
    expect(await cachedIn(shop, shop.client.session(), get('x'))).toBe('mine');
  });
});

test('session: what it read with an operation that is not cached counts', async () => {
  const shop = setUpWith({ isCacheable: ({ name }) => name !== 'live' });
  await ask(shop, get('x'), { value: 'old', version: 1 });
  const session = shop.client.session();
  await ask(
    shop,
    { name: 'live', args: {}, key: 'x', access: 'read' },
    { value: 'new', version: 2 },
    session,
  );
  expect(await cachedIn(shop, session, get('x'))).toBe('miss');
});

test('an idempotency key → handed on to the store behind, in a session too', async () => {
  const store = Object.assign(new StoreBehind(), { hasIdempotencyKeys: true });
  const client = createClient(cached(store));
  for (const session of [undefined, client.session()]) {
    const write = client.invokeStrong(put('x', 1), { session, idempotencyKey: 'order-4711' });
    expect(store.last.context.idempotencyKey).toBe('order-4711');
    store.last.sink.view(undefined, 'strong');
    await write;
  }
});
