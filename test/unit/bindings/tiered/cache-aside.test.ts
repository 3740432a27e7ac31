/**
 * A cache of other programs in front of an origin: it is filled and dropped without waiting, and
 * delays nothing.
 */
import { describe, expect, test, vi } from 'vitest';
import {
  openCacheAside,
  type CacheAsideOptions,
} from '../../../../src/bindings/tiered/cache-aside/cache-aside.ts';
import {
  cacheAside,
  getLagMs,
  skipLevel,
  tiered,
  versionSessions,
  withDetails,
  type Tier,
  type TieredOptions,
} from '../../../../src/bindings/tiered/index.ts';
import { createHandler, defineContract } from '../../../../src/contract/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { get, getMany, put } from '../../../../src/operations/index.ts';
import { withPrincipal } from '../../../../src/server/index.ts';
import { virtualClock } from '../../../../src/testing/virtual-clock.ts';
import * as z from 'zod';
import { deferred, seen, settle, SharedCache } from './set-up.ts';

const LEVELS = ['cache', 'origin'] as const;
const TTL_MS = 60_000;

interface Setup extends Partial<CacheAsideOptions> {
  readonly tiered?: TieredOptions;
}

/** The origin is farther away than the cache. */
function farAway(tier: Tier): Tier {
  return async (operation, context) => {
    if (operation.access === 'read') await settle();
    return await tier(operation, context);
  };
}

function open({ tiered: options = {}, ...setup }: Setup = {}, cache = new SharedCache()) {
  const rows = new Map<string, unknown>();
  const clock = virtualClock(1_000_000);
  const onError = vi.fn<(error: unknown, failure: object) => void>();
  const origin = vi.fn<Tier>(({ key = '', access, args }) => {
    if (access === 'read') return rows.get(key);
    return void rows.set(key, (args as { value: unknown }).value);
  });
  const cached = { ...cache.functions, ttlMs: TTL_MS, onError, ...setup };
  const tiers = openCacheAside({ ...cached, origin: farAway(setup.origin ?? origin) }, clock);
  const client = createClient(tiered(LEVELS, tiers, { onError: () => {}, ...options }));
  return { cache, rows, clock, onError, origin, client };
}

describe('filling and dropping', () => {
  // @rule TIER-8
  test('a final view fills the cache, and the next read shows it first', async () => {
    const { cache, client, rows } = open();
    rows.set('k', { name: 'Ada' });
    expect(await client.invoke(get('k'))).toEqual({ name: 'Ada' });
    await settle();
    expect(cache.commands).toEqual(['get k', `set k ${TTL_MS}`]);
    const levels: string[] = [];
    for await (const { level, value } of client.invoke(get('k')))
      levels.push(`${level} ${JSON.stringify(value)}`);
    expect(levels).toEqual(['cache {"name":"Ada"}', 'origin {"name":"Ada"}']);
  });

  // @rule TIER-8
  test('a value that is absent is cached too', async () => {
    const { client } = open();
    await client.invoke(get('k'));
    await settle();
    expect(await seen(client.invoke(get('k')))).toEqual(['cache=undefined', 'origin=undefined!']);
  });

  // @rule TIER-8
  test('a write drops the entry before its final view, also if it fails', async () => {
    const { cache, client, rows, origin } = open();
    rows.set('k', 'old');
    for (const outcome of ['succeeds', 'fails'] as const) {
      await client.invoke(get('k'));
      await settle();
      expect(cache.texts.has('k'), outcome).toBe(true);
      if (outcome === 'fails') origin.mockRejectedValueOnce(new Error('lost'));
      await client.invoke(put('k', 'new')).catch(() => {});
      expect(cache.commands.at(-1)).toBe('delete k');
      await settle();
      expect(cache.texts.has('k'), outcome).toBe(false);
    }
  });

  // @rule TIER-8
  test('touches: a write of several keys drops all of them', async () => {
    const touches = ({ args }: Operation): string[] =>
      Object.values(args as Record<string, string>);
    const { cache, client } = open({ touches });
    await client.invoke({ name: 'move', args: { from: 'a', to: 'b' }, access: 'write' });
    expect(cache.commands).toEqual(['delete a', 'delete b']);
  });

  test('touches that fail do not fail the write', async () => {
    const touches = (): never => {
      throw new Error('no args');
    };
    const { client, onError, cache } = open({ touches });
    await client.invoke(put('k', 1));
    expect(onError).toHaveBeenCalledWith(expect.any(Error), { action: 'delete', key: 'k' });
    expect(cache.commands).toEqual(['delete k']);
    await client.invoke(get('k'));
    expect(onError).toHaveBeenLastCalledWith(expect.any(Error), { action: 'get', key: 'k' });
  });

  test('reads of no key or of several pass the cache by', async () => {
    const { client, cache } = open();
    const list: Operation = { name: 'list', args: {}, access: 'read' };
    for (const read of [getMany(['a', 'b']), list]) {
      await client.invoke(read);
      await settle();
    }
    expect(cache.commands).toEqual([]);
  });

  test('versions, meta and the lag of the origin come back', async () => {
    const version = new Date(5);
    const origin: Tier = () => withDetails('o', { version, meta: { remaining: 3, lagMs: 40 } });
    const { client, clock } = open({ origin });
    await client.invoke(get('k'));
    await clock.advance(100);
    const view = await client.invoke(get('k')).when('cache');
    expect(view).toMatchObject({ level: 'cache', version, meta: { remaining: 3 } });
    expect(getLagMs(view)).toBe(140);
  });

  test('a value that JSON changes is not cached, which is reported once', async () => {
    const { client, rows, cache, onError } = open();
    rows.set('k', { at: new Date() });
    await client.invoke(get('k'));
    await client.invoke(get('k'));
    await settle();
    expect(cache.texts.size).toBe(0);
    expect(onError).toHaveBeenCalledTimes(1);
    expect(onError.mock.calls[0]).toMatchObject([
      { code: 'INVALID_VALUE' },
      { action: 'set', key: 'k' },
    ]);
  });
});

describe('whose view, and of when', () => {
  // @rule TIER-11
  test('the view of another operation on the key, or of other arguments, is not shown', async () => {
    const { client, origin } = open();
    const read = (name: string, args: object): Operation => ({
      name,
      args,
      access: 'read',
      key: 'k',
    });
    origin.mockImplementation(({ name, args }) => `${name} ${JSON.stringify(args)}`);
    await client.invoke(read('posts', { page: 1 }));
    for (const other of [read('posts', { page: 2 }), read('friends', { page: 1 })]) {
      await settle();
      expect(await seen(client.invoke(other))).toHaveLength(1);
    }
    await settle();
    expect(await seen(client.invoke(read('friends', { page: 1 })))).toHaveLength(2);
  });

  // @rule TIER-11
  test('a principal does not get the view of another one', async () => {
    const cache = new SharedCache();
    const clock = virtualClock();
    const origin = farAway((_operation, { principal }) => `for ${principal?.id}`);
    const tiers = openCacheAside({ ...cache.functions, ttlMs: TTL_MS, origin }, clock);
    const as = (id: string) => createClient(withPrincipal(tiered(LEVELS, tiers), { id }));
    await as('ada').invoke(get('k'));
    await settle();
    expect(await seen(as('bob').invoke(get('k')))).toEqual(['origin=for bob!']);
    await settle();
    expect(await seen(as('bob').invoke(get('k')))).toEqual(['cache=for bob', 'origin=for bob!']);
  });

  // @rule TIER-11
  test('a view of an earlier form of the contract is not shown', async () => {
    const cache = new SharedCache();
    const openShop = (result: z.ZodType) => {
      const shop = defineContract('shop', {
        price: { access: 'read', args: z.object({ id: z.string() }), key: ({ id }) => id, result },
      });
      const origin = createHandler(shop, { price: () => 5 } as never);
      const tiers = cacheAside({ ...cache.functions, ttlMs: TTL_MS, origin });
      const client = createClient(tiered(LEVELS, { ...tiers, origin: farAway(tiers.origin) }));
      return () => seen(client.invoke(shop.price({ id: 'k' })));
    };
    const before = openShop(z.int());
    expect(await before()).toEqual(['origin=5!']);
    await settle();
    expect(await before()).toEqual(['cache=5', 'origin=5!']);
    expect(await openShop(z.int().min(1))()).toEqual(['origin=5!']);
  });

  // @rule TIER-11
  test('an entry lives for ttlMs from when the origin was asked', async () => {
    const answer = deferred<string>();
    const { client, clock, cache, origin } = open();
    origin.mockReturnValueOnce(answer.promise);
    const read = client.invoke(get('k'));
    await clock.advance(50); // before the timeout of the cache
    await clock.advance(950);
    answer.resolve('v');
    await read;
    await settle();
    expect(cache.commands.at(-1)).toBe(`set k ${TTL_MS - 1_000}`);
    await clock.advance(TTL_MS - 1_000);
    expect(await seen(client.invoke(get('k')))).toHaveLength(2);
    await settle();
    const text = cache.texts.get('k')!;
    await clock.advance(TTL_MS + 1);
    cache.texts.set('k', text); // The cache has kept it for too long.
    expect(await seen(client.invoke(get('k')))).toHaveLength(1);
  });

  test('an entry of a clock that is ahead has no lag', async () => {
    const { client, cache, rows } = open();
    rows.set('k', 1);
    await client.invoke(get('k'));
    await settle();
    const entry = JSON.parse(cache.texts.get('k')!) as { readAtMs: number };
    cache.texts.set('k', JSON.stringify({ ...entry, readAtMs: entry.readAtMs + 5_000 }));
    expect(getLagMs(await client.invoke(get('k')).when('cache'))).toBeNaN();
  });

  test('a text of another program is not shown', async () => {
    const { client, cache } = open();
    for (const text of ['', '{', '5', '{"id":1}']) {
      cache.texts.set('k', text);
      expect(await seen(client.invoke(get('k')))).toHaveLength(1);
    }
  });
});

describe('the clock of the machine', () => {
  // @rule TIER-11
  test.each([
    ['back', -3_600_000, TTL_MS - 20],
    ['forward by less than ttlMs', 10_000, TTL_MS - 10_020],
  ])(
    'set %s while the origin answers → no entry lives longer than ttlMs',
    async (_, byMs, leftMs) => {
      const cache = new SharedCache();
      const clock = virtualClock(10_000_000);
      let offsetMs = 0;
      const answer = deferred<string>();
      const wallNow = (): number => clock.now() + offsetMs;
      const options = { ...cache.functions, ttlMs: TTL_MS, origin: farAway(() => answer.promise) };
      const tiers = openCacheAside(options, { now: clock.now, setTimer: clock.setTimer, wallNow });
      const client = createClient(tiered(LEVELS, tiers));
      const read = client.invoke(get('k'));
      await clock.advance(20);
      offsetMs = byMs;
      answer.resolve('v');
      await read;
      await settle();
      expect(cache.commands.at(-1)).toBe(`set k ${leftMs}`);
      await clock.advance(30);
      expect(getLagMs(await client.invoke(get('k')).when('cache'))).toBe(TTL_MS - leftMs + 30);
    },
  );

  test('entries that were stored together do not expire together, and never after ttlMs', async () => {
    const cache = new SharedCache();
    const random = vi
      .fn<() => number>()
      .mockReturnValueOnce(0)
      .mockReturnValueOnce(0.5)
      .mockReturnValue(0.999);
    const options = { ...cache.functions, ttlMs: TTL_MS, origin: () => 'v' };
    const client = createClient(tiered(LEVELS, openCacheAside(options, virtualClock(), random)));
    for (const key of ['a', 'b', 'c']) await client.invoke(get(key));
    await settle();
    const lives = cache.commands.filter((command) => command.startsWith('set'));
    expect(lives).toEqual(['set a 60000', 'set b 57000', 'set c 54006']);
  });
});

describe('a cache that does not answer', () => {
  // @rule TIER-9
  test('reads and writes do not wait for it', async () => {
    const { client, cache, rows } = open();
    cache.before = () => new Promise(() => {});
    rows.set('k', 'v');
    expect(await client.invoke(get('k'))).toBe('v');
    await client.invoke(put('k', 'w'));
    expect(await client.invoke(get('k'))).toBe('w');
  });

  // @rule TIER-9
  test('in sequence, it is waited for once, and asked again after a time that doubles', async () => {
    const { client, cache, clock, rows, onError } = open({ tiered: { freshEnough: () => true } });
    cache.before = () => new Promise(() => {});
    rows.set('k', 'v');
    const read = client.invoke(get('k'));
    await clock.advance(99);
    expect(read.state).toBe('pending');
    await clock.advance(1);
    expect(await read).toBe('v');
    for (const pauseMs of [500, 1_000]) {
      await clock.advance(pauseMs - 1);
      const before = cache.commands.length;
      expect(await client.invoke(get('k'))).toBe('v');
      expect(cache.commands).toHaveLength(before);
      await clock.advance(1);
      expect(await client.invoke(get('k'))).toBe('v'); // It is asked, and not waited for.
      expect(cache.commands.length).toBeGreaterThan(before);
      await clock.advance(100); // No answer: the next pause.
    }
    expect(onError).toHaveBeenCalledTimes(3);
    expect(onError.mock.calls[0]).toMatchObject([{ code: 'TIMEOUT' }, { action: 'get', key: 'k' }]);
    await clock.advance(2_000);
    cache.before = () => {};
    await client.invoke(get('k'));
    await settle();
    expect(await seen(client.invoke(get('k')))).toEqual(['cache=v!']);
  });

  // @rule TIER-9
  test('the weak level alone is answered by the origin', async () => {
    const { client, cache, rows, onError } = open();
    cache.before = () => Promise.reject(new Error('ECONNREFUSED'));
    rows.set('k', 'v');
    expect(await client.invokeWeak(get('k'))).toBe('v');
    expect(onError).toHaveBeenCalledTimes(1);
  });

  // @rule TIER-9
  test('few commands wait for it, and no entry is shown while a drop could not be sent', async () => {
    const { client, cache, clock, rows } = open();
    rows.set('k', 'old');
    await client.invoke(get('k'));
    await settle();
    const held = deferred<void>();
    cache.before = () => held.promise;
    for (let n = 0; n < 1_500; n += 1) await client.invoke(put(`key ${n}`, n));
    await client.invoke(put('k', 'new'));
    expect(cache.commands.filter((command) => command.startsWith('delete'))).toHaveLength(1_000);
    held.resolve();
    await clock.advance(1_000); // The pause is over.
    expect(cache.texts.get('k')).toContain('old');
    expect(await seen(client.invoke(get('k')))).toEqual(['origin=new!']);
  });
});

describe('what was written here is not shown as it was before', () => {
  // @rule TIER-10
  test('until the cache has dropped it', async () => {
    const { client, cache, rows, clock } = open();
    rows.set('k', 'old');
    await client.invoke(get('k'));
    await settle();
    cache.before = (command) => {
      if (command.startsWith('delete')) throw new Error('lost');
    };
    await client.invoke(put('k', 'new'));
    await clock.advance(500);
    expect(cache.texts.get('k')).toContain('old');
    const gets = cache.commands.filter((command) => command === 'get k').length;
    expect(await seen(client.invoke(get('k')))).toEqual(['origin=new!']);
    expect(cache.commands.filter((command) => command === 'get k')).toHaveLength(gets);
    await settle(); // The read has filled it with the new value.
    expect(await seen(client.invoke(get('k')))).toEqual(['cache=new', 'origin=new!']);
  });

  // @rule TIER-10
  test('by a read that began before the write and ends after it', async () => {
    const { client, cache, origin, rows } = open();
    const answer = deferred<string>();
    origin.mockReturnValueOnce(answer.promise);
    const read = client.invoke(get('k'));
    await settle(); // The origin was asked.
    await client.invoke(put('k', 'new'));
    answer.resolve('old');
    await read;
    await settle();
    expect(cache.commands).toEqual(['get k', 'delete k']);
    expect(rows.get('k')).toBe('new');
  });

  // @rule TIER-10
  test('by an answer of the cache that the write has overtaken', async () => {
    const { client, cache, rows } = open();
    rows.set('k', 'old');
    await client.invoke(get('k'));
    await settle();
    const [text, dropping] = [deferred<void>(), deferred<void>()];
    cache.before = (command) => (command.startsWith('get') ? text.promise : dropping.promise);
    const read = seen(client.invoke(get('k')));
    await client.invoke(put('k', 'new'));
    text.resolve();
    expect(await read).toEqual(['origin=new!']);
  });

  // @rule TIER-10
  test('by a command that the cache executes after the drop', async () => {
    const { client, cache, rows } = open();
    const held = deferred<void>();
    cache.before = (command) => (command.startsWith('set') ? held.promise : undefined);
    rows.set('k', 'old');
    await client.invoke(get('k'));
    await client.invoke(put('k', 'new'));
    await settle();
    held.resolve();
    await settle();
    expect(cache.texts.size).toBe(0);
    expect(cache.commands.filter((command) => command === 'delete k')).toHaveLength(2);
  });
});

// @rule TIER-10
test('a command that the cache executes long after its timeout is dropped again too', async () => {
  const { client, cache, rows, clock } = open();
  const held = deferred<void>();
  cache.before = (command) => (command.startsWith('set') ? held.promise : undefined);
  rows.set('k', 'old');
  await client.invoke(get('k'));
  await clock.advance(10_000); // The timeout, and the pause after it.
  await client.invoke(put('k', 'new'));
  held.resolve();
  await settle();
  expect(cache.texts.size).toBe(0);
});

test('with sessions: what another process has put into the cache too late is skipped', async () => {
  const cache = new SharedCache();
  const version = { now: 1 };
  const origin: Tier = ({ access }) =>
    withDetails(`v${version.now}`, { version: (version.now += access === 'write' ? 1 : 0) });
  const tiers = cacheAside({ ...cache.functions, ttlMs: TTL_MS, origin });
  const client = createClient(
    tiered(LEVELS, tiers, { sessions: versionSessions(), freshEnough: () => true }),
  );
  await client.invoke(get('k'));
  await settle();
  const late = cache.texts.get('k')!;
  const session = client.session();
  await client.invoke(put('k', 'x'), { session });
  await settle();
  cache.texts.set('k', late);
  expect(await seen(client.invoke(get('k')))).toEqual(['cache=v1!']);
  expect(await seen(client.invoke(get('k'), { session }))).toEqual(['origin=v2!']);
});

test('an origin that skips its level fills nothing', async () => {
  const { cache, client } = open({ origin: () => skipLevel });
  await expect(client.invoke(get('k'))).rejects.toMatchObject({ code: 'CLOSED_WITHOUT_FINAL' });
  expect(cache.texts.size).toBe(0);
});
