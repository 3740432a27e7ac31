/** A causal store in this process, as its users see it. */
import { expect, test } from 'vitest';
import { createCausalStore, type CausalStore } from '../../../../src/bindings/causal/index.ts';
import { cached } from '../../../../src/bindings/cache/index.ts';
import { createClient } from '../../../../src/index.ts';
import { get, getMany, put, remove } from '../../../../src/operations/index.ts';
import { virtualClock, type VirtualClock } from '../../../../src/testing/index.ts';

const SITES = ['dublin', 'oregon'] as const;

function open(options: { latencyMs?: number; siteTimeoutMs?: number } = {}) {
  const clock = virtualClock(1_000_000);
  const { latencyMs, siteTimeoutMs } = options;
  const latency = latencyMs === undefined ? undefined : { 'dublin-oregon': latencyMs };
  const store = createCausalStore({ sites: SITES, latency, siteTimeoutMs, clock });
  const [dublin, oregon] = SITES.map((site) => createClient(store.site(site), { clock }));
  return { clock, store, dublin: dublin!, oregon: oregon! };
}

test('a write is acknowledged at its site, and arrives at the other one later', async () => {
  const { clock, dublin, oregon } = open({ latencyMs: 100 });
  await dublin.invoke(put('a', 1));
  expect(await dublin.invokeWeak(get('a'))).toBe(1);
  expect(await oregon.invokeWeak(get('a'))).toBeUndefined();
  await clock.advance(200);
  expect(await oregon.invokeWeak(get('a'))).toBe(1);
});

test('a read of several keys has no answer without its question', async () => {
  const { clock, dublin, oregon } = open({ latencyMs: 20 });
  const session = dublin.session();
  for (let round = 0; round < 20; round += 1) {
    await dublin.invoke(put('question', round), { session });
    await dublin.invoke(put('answer', round), { session });
    await clock.advance(7);
    const [question, answer] = await oregon.invokeWeak(getMany<number>(['question', 'answer']));
    expect(question ?? -1).toBeGreaterThanOrEqual(answer ?? -1);
  }
});

test('one invoke shows the near state, and then the newest state of all sites', async () => {
  const { clock, dublin, oregon } = open({ latencyMs: 100 });
  await oregon.invoke(put('a', 'new'));
  const views: unknown[] = [];
  const read = dublin.invoke(get('a')).onUpdate((value, { level }) => views.push([level, value]));
  await clock.advance(200);
  expect(await read).toBe('new');
  expect(views).toEqual([['causal', undefined]]);
  expect(read.latest).toMatchObject({ level: 'latest', value: 'new' });
});

test('a write has one view, at causal', async () => {
  const { dublin } = open({ latencyMs: 100 });
  const write = dublin.invoke(put('a', 1));
  await write;
  expect(write.latest).toMatchObject({ level: 'causal' });
});

test('the last writer wins, at all sites', async () => {
  const { clock, dublin, oregon } = open({ latencyMs: 10 });
  await dublin.invoke(put('a', 'first'));
  await clock.advance(1);
  await oregon.invoke(put('a', 'second'));
  await clock.advance(100);
  expect([await dublin.invokeWeak(get('a')), await oregon.invokeWeak(get('a'))]).toEqual([
    'second',
    'second',
  ]);
});

test('a value with ttlMs is gone after that time, at all sites (CAUSAL-18)', async () => {
  const { clock, dublin, oregon } = open({ latencyMs: 10 });
  await dublin.invoke(put('a', 1, { ttlMs: 500 }));
  await clock.advance(400);
  expect([await dublin.invokeWeak(get('a')), await oregon.invokeWeak(get('a'))]).toEqual([1, 1]);
  await clock.advance(100);
  expect([await dublin.invokeWeak(get('a')), await oregon.invokeWeak(get('a'))]).toEqual([
    undefined,
    undefined,
  ]);
});

test('remove removes a key at all sites (CAUSAL-18)', async () => {
  const { clock, dublin, oregon } = open();
  await dublin.invoke(put('a', 1));
  await dublin.invoke(remove('a'));
  await clock.advance(50);
  expect([await dublin.invokeWeak(get('a')), await oregon.invokeWeak(get('a'))]).toEqual([
    undefined,
    undefined,
  ]);
});

test('without a link, both sites go on, latest fails, and later all copies are equal (CAUSAL-22)', async () => {
  const { clock, store, dublin, oregon } = open();
  store.disconnect('dublin', 'oregon');
  await dublin.invoke(put('a', 'dublin'));
  await clock.advance(1);
  await oregon.invoke(put('b', 'oregon'));
  const read = dublin.invoke(getMany(['a', 'b']));
  await expect(read).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  expect(read.latest).toMatchObject({ level: 'causal', value: ['dublin', undefined] });
  store.reconnect('dublin', 'oregon');
  await clock.advance(50);
  const values = [
    await dublin.invokeWeak(getMany(['a', 'b'])),
    await oregon.invokeWeak(getMany(['a', 'b'])),
  ];
  expect(values).toEqual([
    ['dublin', 'oregon'],
    ['dublin', 'oregon'],
  ]);
});

test('a session that goes on at another site waits for its writes (CAUSAL-20)', async () => {
  const { clock, dublin, oregon } = open({ latencyMs: 100 });
  const session = dublin.session();
  await dublin.invoke(put('a', 1), { session });
  const moved = oregon.session({ tokens: session.tokens });
  const read = oregon.invokeWeak(get('a'), { session: moved });
  await clock.advance(0);
  expect(read.state).toBe('pending');
  await clock.advance(250);
  expect(await read).toBe(1);
});

test('a session whose writes do not arrive in time fails with REPLICA_BEHIND (CAUSAL-20)', async () => {
  const { clock, store, dublin, oregon } = open({ siteTimeoutMs: 300 });
  const session = dublin.session();
  await dublin.invoke(put('a', 1), { session });
  store.disconnect('dublin', 'oregon');
  const moved = oregon.session({ tokens: session.tokens });
  const [read, write] = [
    oregon.invokeWeak(get('a'), { session: moved }),
    oregon.invoke(put('b', 1), { session: moved }),
  ];
  const outcomes = Promise.allSettled([read, write]);
  await clock.advance(300);
  for (const { status, ...outcome } of await outcomes) {
    expect(status).toBe('rejected');
    expect(outcome).toMatchObject({ reason: { code: 'REPLICA_BEHIND' } });
  }
  expect(await oregon.invokeWeak(get('b'))).toBeUndefined();
});

test.each(['c0.1', 'c0.1_99999999999999999', 'x', 'c0.1_-1', 'o1.abc.def'])(
  'a token that is not of the store is refused: %s (CAUSAL-21)',
  (token) => {
    const { store } = open();
    expect(() => store.site('dublin').openSession?.([token])).toThrow(
      expect.objectContaining({ code: 'UNAUTHENTICATED' }),
    );
  },
);

test('a store whose sites are equal has no timer', async () => {
  const { clock, store } = open({ latencyMs: 30 });
  const dublin = createClient(store.site('dublin'));
  await dublin.invoke(put('a', 1));
  expect(clock.pendingTimers).toBeGreaterThan(0);
  await settle(clock);
  expect(clock.pendingTimers).toBe(0);
});

test('a store with one site has no timer', async () => {
  const clock = virtualClock();
  const alone = createClient(createCausalStore({ sites: ['dublin'], clock }).site('dublin'));
  await alone.invoke(put('a', 1));
  expect(clock.pendingTimers).toBe(0);
  expect(await alone.invoke(get('a'))).toBe(1);
});

test('writes go on when the clock of the machine is set back (CAUSAL-8)', async () => {
  const clock = { ...virtualClock(1_000_000), wallNow: () => wallMs };
  let wallMs = 1_800_000_000_000;
  const store = createCausalStore({ sites: ['dublin'], clock });
  const dublin = createClient(store.site('dublin'));
  await dublin.invoke(put('a', 1));
  wallMs -= 3_600_000;
  await dublin.invoke(put('a', 2));
  expect(await dublin.invoke(get('a'))).toBe(2);
});

test('a client that closes ends only its own operations', async () => {
  const { store, dublin } = open();
  await createClient(store.site('dublin')).close();
  await dublin.invoke(put('a', 1));
  await store.close();
  await expect(dublin.invoke(get('a'))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    retryable: false,
  });
});

test('a cache in front shows what was written and removed (cached)', async () => {
  const { store } = open();
  const client = createClient(cached(store.site('dublin'), { principal: 'ada' }));
  await client.invoke(put('a', 1));
  expect(await client.invokeWeak(get('a'))).toBe(1);
  await client.invoke(remove('a'));
  expect(await client.invoke(get('a'))).toBeUndefined();
});

test.each<[string, unknown, string]>([
  ['no sites', { sites: [] }, 'sites'],
  ['a site twice', { sites: ['a', 'a'] }, 'sites'],
  ['no partition', { sites: ['a'], partitions: 0 }, 'partitions'],
  ['a misspelt option', { sites: ['a'], partition: 3 }, 'partition'],
  ['a missing pair', { sites: ['a', 'b'], latency: {} }, 'latency.a-b'],
  ['an unknown pair', { sites: ['a', 'b'], latency: { 'a-b': 1, 'a-c': 1 } }, 'latency.a-c'],
  ['no duration', { sites: ['a', 'b'], latency: { 'a-b': -1 } }, 'latency.a-b'],
])('createCausalStore with %s → INVALID_ARGUMENT with the field', (_, options, field) => {
  expect(() => createCausalStore(options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
  );
});

test('an unknown site → INVALID_ARGUMENT', () => {
  const { store } = open();
  const calls = [
    () => store.site('paris' as never),
    () => (store as CausalStore).disconnect('dublin', 'paris'),
  ];
  for (const call of calls)
    expect(call).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'site' }));
});

test.each<[string, object, string]>([
  ['put', { key: '', value: 1 }, 'args.key'],
  ['put', { key: 'a', value: 1, ttlMs: -1 }, 'ttlMs'],
  ['remove', {}, 'args.key'],
  ['getMany', { keys: 'a' }, 'args.keys'],
  ['getMany', { keys: ['a', 1] }, 'args.keys[1]'],
  ['getMany', { keys: Array.from({ length: 1_001 }, (_, at) => `${at}`) }, 'args.keys'],
])(
  '%s with arguments that do not fit → INVALID_ARGUMENT with the field',
  async (name, args, field) => {
    const { dublin } = open();
    const operation = {
      name,
      args,
      access: name === 'getMany' ? ('read' as const) : ('write' as const),
    };
    await expect(dublin.invoke(operation)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field,
    });
  },
);

async function settle(clock: VirtualClock): Promise<void> {
  for (let round = 0; round < 100 && clock.pendingTimers > 0; round += 1) await clock.advance(20);
}
