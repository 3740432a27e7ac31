/** A causal store on Redis, as its users see it: over partitions in memory. */
import { expect, test } from 'vitest';
import { findPartition } from '../../../../src/causal/partition-of-key.ts';
import { get, getMany, put, remove } from '../../../../src/operations/index.ts';
import { virtualClock, type VirtualClock } from '../../../../src/testing/index.ts';
import { CausalRedisWorld, type RedisWorldOptions } from '../../../support/causal-redis-world.ts';

const TOKEN_KEY = 'a secret of all processes';

function open(options: Partial<RedisWorldOptions> = {}) {
  const clock = virtualClock(1_000_000_000);
  const world = new CausalRedisWorld({ clock, ...options });
  world.prepareAll();
  return { clock, world };
}

async function openBoth(options: Partial<RedisWorldOptions> = {}) {
  const { clock, world } = open(options);
  const [dublin, oregon] = ['dublin', 'oregon'].map((site) =>
    world.connect(site, { tokenKey: TOKEN_KEY }),
  );
  await clock.advance(200);
  return { clock, world, dublin: dublin!, oregon: oregon! };
}

/** Lets the clock go on until the promise has settled. */
async function during<T>(clock: VirtualClock, promise: PromiseLike<T>): Promise<T> {
  const progress = { isSettled: false };
  const settled = Promise.resolve(promise).finally(() => (progress.isSettled = true));
  settled.catch(() => {});
  for (let step = 0; step < 20_000 && !progress.isSettled; step += 1) await clock.advance(5);
  return settled;
}

test('a write is acknowledged at its site, and arrives at the other one later', async () => {
  const { clock, dublin, oregon } = await openBoth();
  await during(clock, dublin.invoke(put('a', { n: 1 })));
  expect(await during(clock, dublin.invokeWeak(get('a')))).toEqual({ n: 1 });
  await clock.advance(300);
  expect(await during(clock, oregon.invokeWeak(get('a')))).toEqual({ n: 1 });
  expect(await during(clock, oregon.invokeWeak(getMany(['a', 'b'])))).toEqual([
    { n: 1 },
    undefined,
  ]);
});

test('operations before the start wait until the partitions were polled', async () => {
  const { clock, world } = open();
  const dublin = world.connect('dublin');
  await during(clock, dublin.invoke(put('a', 1)));
  expect(await during(clock, dublin.invokeWeak(get('a')))).toBe(1);
});

test('without a record, operations fail with INVALID_ARGUMENT that says what to do', async () => {
  const { clock, world } = open();
  world.memory('dublin').record = undefined;
  const binding = world.open('dublin');
  await clock.advance(50);
  expect(binding.failure).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'sites.dublin' });
  expect(binding.failure?.message).toContain('correctables causal prepare');
});

test.each<[string, object, string]>([
  ['the Redis of another site', { site: 'oregon' }, 'sites.dublin'],
  ['a record with other sites', { sites: ['dublin', 'berlin'] }, 'sites'],
  ['a record of another format', { format: 2 }, 'name'],
])('%s → INVALID_ARGUMENT with the field', async (_, fields, field) => {
  const { clock, world } = open();
  const { record } = world.memory('dublin');
  world.memory('dublin').record = { ...record!, ...fields };
  const binding = world.open('dublin');
  await clock.advance(50);
  expect(binding.failure).toMatchObject({ code: 'INVALID_ARGUMENT', field });
});

test('another site with another deployment → INVALID_ARGUMENT, and nothing is brought in from there', async () => {
  const { clock, world } = open();
  world.memory('oregon').record = { ...world.memory('oregon').record!, partitions: 9 };
  const binding = world.open('dublin');
  await clock.advance(100);
  expect(binding.failure).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'sites.oregon' });
  expect(world.calls.has('pull')).toBe(false);
});

test('a site that was not prepared yet is reported, and only latest waits for it', async () => {
  const { clock, world } = open();
  const { record } = world.memory('oregon');
  world.memory('oregon').record = undefined;
  const dublin = world.connect('dublin', { siteTimeoutMs: 300 });
  await during(clock, dublin.invoke(put('a', 1)));
  expect(world.alarms).toMatchObject([{ code: 'deployment', site: 'dublin' }]);
  await expect(during(clock, dublin.invoke(get('a')))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  world.memory('oregon').record = record;
  world.connect('oregon');
  await clock.advance(2_000);
  expect(await during(clock, dublin.invoke(get('a')))).toBe(1);
});

test('the first process of a prepared site serves while another site is away', async () => {
  const { clock, world } = open();
  world.memory('oregon').isAway = true;
  const dublin = world.connect('dublin', { siteTimeoutMs: 300 });
  await during(clock, dublin.invoke(put('a', 1)));
  expect(await during(clock, dublin.invokeWeak(get('a')))).toBe(1);
});

test('serves nothing before its view is published, so that the next start knows what it has seen', async () => {
  const { clock, world } = open();
  world.memory('dublin').refusesViews = true;
  const dublin = world.connect('dublin', { siteTimeoutMs: 300 });
  await expect(during(clock, dublin.invoke(put('a', 1)))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  world.memory('dublin').refusesViews = false;
  await clock.advance(1_000);
  await during(clock, dublin.invoke(put('a', 1)));
});

test.each([
  ['Redis has started again from the data of the prepared site', { run: 2 }],
  ['Redis has lost its record and its view', { recordRun: undefined }],
])('after %s, a start needs the other sites (CAUSAL-13)', async (_, loss) => {
  const { clock, world } = open();
  Object.assign(world.memory('dublin'), loss);
  world.memory('oregon').isAway = true;
  const dublin = world.connect('dublin', { siteTimeoutMs: 300 });
  await expect(during(clock, dublin.invoke(put('a', 1)))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
  world.memory('oregon').isAway = false;
  await clock.advance(2_000);
  await during(clock, dublin.invoke(put('a', 1)));
});

test('latest has what the other site has acknowledged', async () => {
  const { clock, dublin, oregon } = await openBoth({ remoteMs: 40 });
  await during(clock, oregon.invoke(put('a', 'new')));
  const read = dublin.invoke(get('a'));
  expect(await during(clock, read)).toBe('new');
  expect(read.latest).toMatchObject({ level: 'latest' });
});

test('a site that is away fails latest and no other operation', async () => {
  const { clock, world, dublin } = await openBoth();
  world.memory('oregon').isAway = true;
  await during(clock, dublin.invoke(put('a', 1)));
  const read = dublin.invoke(get('a'));
  await expect(during(clock, read)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(read.latest).toMatchObject({ level: 'causal', value: 1 });
});

test('a write without a reply is repeated with the same id (CAUSAL-17)', async () => {
  const { clock, world, dublin } = await openBoth();
  world.lostReplies.add('put');
  const write = dublin.invoke(put('a', 1));
  await clock.advance(100);
  expect(world.calls.get('put')).toBeGreaterThan(1);
  world.lostReplies.clear();
  await during(clock, write);
  const partition = world.memory('dublin').partitions[findPartition('a', 3)]!;
  expect(partition.state.own.count).toBe(1);
});

test('a write that gets no reply while its id is known fails with UNKNOWN (CAUSAL-17)', async () => {
  const { clock, world } = open();
  const dublin = world.connect('dublin');
  await clock.advance(200);
  world.lostReplies.add('put');
  const write = dublin.invoke(put('a', 1), { timeoutMs: 100_000 });
  await expect(during(clock, write)).rejects.toMatchObject({ code: 'UNKNOWN' });
});

test('a write without a reply whose partition has lost data fails with UNKNOWN (CAUSAL-17)', async () => {
  const { clock, world, dublin } = await openBoth();
  const setBack = world.saveForSetBack('dublin', findPartition('a', 3));
  await during(clock, dublin.invoke(put('a', 0)));
  await clock.advance(200);
  world.lostReplies.add('put');
  const write = dublin.invoke(put('a', 1));
  await clock.advance(20);
  setBack();
  await expect(during(clock, write)).rejects.toMatchObject({ code: 'UNKNOWN' });
});

test('reads wait while a partition is healed, and then have what the other site had (CAUSAL-13, CAUSAL-14)', async () => {
  const { clock, world, dublin } = await openBoth();
  const setBack = world.saveForSetBack('dublin', findPartition('a', 3));
  await during(clock, dublin.invoke(put('a', 1)));
  await clock.advance(300);
  setBack();
  expect(await during(clock, dublin.invokeWeak(get('a')))).toBe(1);
  expect(world.alarms).toEqual([]);
});

test('writes that no other site had are lost with an alarm', async () => {
  const { clock, world, dublin } = await openBoth();
  await clock.advance(100);
  const setBack = world.saveForSetBack('dublin', findPartition('a', 3));
  world.memory('oregon').isAway = true;
  await during(clock, dublin.invoke(put('a', 1)));
  setBack();
  await clock.advance(100);
  world.memory('oregon').isAway = false;
  await clock.advance(2_000);
  expect(await during(clock, dublin.invokeWeak(get('a')))).toBeUndefined();
  expect(world.alarms).toMatchObject([
    { code: 'lost-writes', site: 'dublin', partitions: [findPartition('a', 3)] },
  ]);
});

test('after FLUSHALL all keys come back, and no absent key is shown (CAUSAL-13)', async () => {
  const { clock, world, dublin } = await openBoth();
  const keys = Array.from({ length: 20 }, (_, at) => `k${at}`);
  for (const key of keys) await during(clock, dublin.invoke(put(key, key)));
  await clock.advance(500);
  world.flush('dublin');
  expect(await during(clock, dublin.invokeWeak(getMany(keys)))).toEqual(keys);
  expect(world.alarms).toMatchObject([{ code: 'deployment' }]);
});

test('after FLUSHALL a gateway that runs restores the record, so that others can start', async () => {
  const { clock, world } = await openBoth();
  world.flush('dublin');
  await clock.advance(100);
  expect(world.memory('dublin').record).toMatchObject({ site: 'dublin' });
  const started = world.connect('dublin');
  expect(await during(clock, started.invokeWeak(get('a')))).toBeUndefined();
});

test('a gateway that starts after FLUSHALL copies all before it serves (CAUSAL-13)', async () => {
  const { clock, world, dublin } = await openBoth();
  await during(clock, dublin.invoke(put('a', 1)));
  await clock.advance(500);
  await during(clock, dublin.close());
  world.flush('dublin');
  const prepared = await during(clock, world.prepare('dublin'));
  expect(prepared).toMatchObject({
    isCreated: true,
    restoredPartitions: 1,
    sites: ['dublin', 'oregon'],
  });
  const again = world.connect('dublin');
  expect(await during(clock, again.invokeWeak(get('a')))).toBe(1);
});

test('two gateways of a site: one polls and replicates, the other follows', async () => {
  const { clock, world } = open();
  const [first, second] = [world.connect('dublin'), world.connect('dublin')];
  const oregon = world.connect('oregon');
  await clock.advance(2_000);
  await during(clock, oregon.invoke(put('a', 1)));
  await clock.advance(500);
  expect(await during(clock, first.invokeWeak(get('a')))).toBe(1);
  expect(await during(clock, second.invokeWeak(get('a')))).toBe(1);
  const pulls = world.calls.get('pull')!;
  await during(clock, first.close());
  await clock.advance(500);
  expect(world.calls.get('pull')! - pulls).toBeGreaterThan(3);
  await during(clock, oregon.invoke(put('a', 2)));
  await clock.advance(500);
  expect(await during(clock, second.invokeWeak(get('a')))).toBe(2);
});

test('a follower learns that a partition was healed, and serves it again (CAUSAL-14)', async () => {
  const { clock, world } = open();
  const clients = [world.connect('dublin'), world.connect('dublin')] as const;
  world.connect('oregon');
  await clock.advance(2_000);
  const partition = findPartition('a', 3);
  const setBack = world.saveForSetBack('dublin', partition);
  world.memory('oregon').isAway = true;
  for (const client of clients) await during(clock, client.invoke(put('a', 1)));
  setBack();
  world.memory('oregon').isAway = false;
  for (const client of clients)
    expect(await during(clock, client.invokeWeak(get('a')))).toBeUndefined();
  for (const client of clients) await during(clock, client.invoke(put('a', 2)));
  await clock.advance(500);
  // Each of them has seen a write that is lost.
  expect(world.alarms).toMatchObject([{ code: 'lost-writes' }, { code: 'lost-writes' }]);
});

/** The partition is being healed, which takes as long as the other site is away. */
async function expectRefused(clock: VirtualClock, write: PromiseLike<unknown>): Promise<void> {
  await expect(during(clock, write)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
}

/** Each gateway that has seen the lost writes reports them. */
function expectLossAlarms({ alarms }: CausalRedisWorld, partition: number): void {
  expect(alarms).not.toEqual([]);
  for (const alarm of alarms)
    expect(alarm).toMatchObject({ code: 'lost-writes', partitions: [partition] });
}

test.each([0, 1])(
  'writes that only gateway %s of a site has seen are not lost without an alarm (CAUSAL-13)',
  async (at) => {
    const { clock, world } = open();
    const clients = [world.connect('dublin'), world.connect('dublin')];
    world.connect('oregon');
    await clock.advance(2_000);
    const setBack = world.saveForSetBack('dublin', findPartition('a', 3));
    world.memory('oregon').isAway = true;
    await during(clock, clients[at]!.invoke(put('a', 'lost')));
    setBack();
    world.memory('oregon').isAway = false;
    await during(clock, clients[at]!.invokeWeak(get('a')));
    await clock.advance(500);
    expectLossAlarms(world, findPartition('a', 3));
  },
);

test.each([0, 1])(
  'what gateway %s of a site has written, the other one does not overlook after a loss (CAUSAL-13)',
  async (at) => {
    const { clock, world } = open();
    const clients = [world.connect('dublin'), world.connect('dublin')];
    world.connect('oregon');
    await clock.advance(2_000);
    const partition = findPartition('a', 3);
    const setBack = world.saveForSetBack('dublin', partition);
    world.memory('oregon').isAway = true;
    await during(clock, clients[at]!.invoke(put('a', 'lost')));
    // While it fails over, no poll brings what it has.
    world.awayPartitions.add(partition);
    setBack();
    await clock.advance(200);
    world.awayPartitions.clear();
    const blind = during(clock, clients[1 - at]!.invoke(put('a', 'next')));
    await clock.advance(100);
    world.memory('oregon').isAway = false;
    await blind;
    await clock.advance(500);
    expectLossAlarms(world, partition);
  },
);

test('a gateway that cannot share what it has seen notices a loss by itself, at once (CAUSAL-13)', async () => {
  const { clock, world } = open();
  const clients = [world.connect('dublin'), world.connect('dublin')];
  world.connect('oregon');
  await clock.advance(2_000);
  const partition = findPartition('a', 3);
  const setBack = world.saveForSetBack('dublin', partition);
  world.memory('oregon').isAway = true;
  world.memory('dublin').hasSilentKeyspace = true;
  await during(clock, clients[1]!.invoke(put('a', 'lost')));
  world.awayPartitions.add(partition);
  setBack();
  await clock.advance(100);
  world.awayPartitions.clear();
  // It has no lease, so that it polls once a second otherwise.
  await clock.advance(60);
  await expectRefused(clock, clients[0]!.invoke(put('a', 'next')));
});

test('a session goes on in another process with the same tokenKey (CAUSAL-20, CAUSAL-21)', async () => {
  const { clock, dublin, oregon } = await openBoth({ remoteMs: 50 });
  const session = dublin.session();
  await during(clock, dublin.invoke(put('a', 1), { session }));
  const moved = oregon.session({ tokens: session.tokens });
  expect(await during(clock, oregon.invokeWeak(get('a'), { session: moved }))).toBe(1);
});

test('a token with another key is refused (CAUSAL-21)', () => {
  const { world } = open();
  const session = world.open('dublin', { tokenKey: TOKEN_KEY }).openSession();
  const other = world.open('dublin', { tokenKey: 'another secret of 16' });
  expect(() => other.openSession(session.tokens)).toThrow(
    expect.objectContaining({ code: 'UNAUTHENTICATED' }),
  );
});

test('without tokenKey, tokens hold in this process, and others are refused with the reason (CAUSAL-21)', () => {
  const { world } = open();
  const session = world.open('dublin').openSession();
  expect(() => world.open('oregon').openSession(session.tokens)).not.toThrow();
  const foreign = world.open('dublin', { tokenKey: TOKEN_KEY }).openSession().tokens;
  expect(() => world.open('dublin').openSession(foreign)).toThrow(
    expect.objectContaining({
      code: 'UNAUTHENTICATED',
      message: expect.stringContaining('tokenKey'),
    }),
  );
});

test.each<[string, () => ReturnType<typeof put>, object]>([
  [
    'a key over 1 KB',
    () => put('k'.repeat(1_025), 1),
    { code: 'INVALID_ARGUMENT', field: 'args.key' },
  ],
  [
    'a key of half a character',
    () => put('\uD800', 1),
    { code: 'INVALID_ARGUMENT', field: 'args.key' },
  ],
  [
    'a value over maxValueBytes',
    () => put('k', 'x'.repeat(99)),
    { code: 'INVALID_VALUE', field: 'args.value' },
  ],
  ['a value that is no JSON', () => put('k', 1n), { code: 'INVALID_VALUE' }],
  [
    'a value that JSON changes',
    () => put('k', { a: [Number.NaN] }),
    { code: 'INVALID_VALUE', field: 'args.value.a.0' },
  ],
])('%s → refused, and not written', async (_, operation, error) => {
  const { clock, world } = open();
  const dublin = world.connect('dublin', { maxValueBytes: 100 });
  await expect(during(clock, dublin.invoke(operation()))).rejects.toMatchObject(error);
  expect(world.calls.has('put')).toBe(false);
});

test('an idle site slows down, and a write wakes it', async () => {
  const { clock, world, dublin } = await openBoth();
  await clock.advance(5_000);
  const before = world.calls.get('state')!;
  await clock.advance(1_000);
  const idle = world.calls.get('state')! - before;
  await during(clock, dublin.invoke(put('a', 1)));
  const busyFrom = world.calls.get('state')!;
  await clock.advance(1_000);
  expect(world.calls.get('state')! - busyFrom).toBeGreaterThan(4 * idle);
});

test('what Redis may drop is reported once, and again when it goes on', async () => {
  const { clock, world } = open();
  const [server] = world.memory('dublin').servers;
  world.memory('dublin').servers = [{ ...server!, evictionPolicy: 'allkeys-lru', replicas: 0 }];
  world.open('dublin');
  await clock.advance(1_000);
  expect(world.alarms.map(({ code }) => code)).toEqual(['eviction', 'persistence']);
  await clock.advance(60_500);
  expect(world.alarms).toHaveLength(4);
});

test('after close no timer is left, and operations fail', async () => {
  const { clock, world } = open();
  const dublin = world.connect('dublin');
  await clock.advance(200);
  await during(clock, dublin.close());
  await clock.advance(100);
  expect(clock.pendingTimers).toBe(0);
  await expect(dublin.invoke(get('a'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('close waits for a write in flight, and does not report it as not applied', async () => {
  const { clock, world } = open();
  const dublin = world.connect('dublin');
  await clock.advance(200);
  const answered = dublin.invoke(put('a', 1));
  await during(clock, dublin.close());
  await answered;
  const other = world.connect('dublin');
  await clock.advance(200);
  world.lostReplies.add('put');
  const unanswered = other.invoke(remove('a'));
  const [outcome] = await Promise.all([
    Promise.allSettled([unanswered]),
    during(clock, other.close()),
  ]);
  expect(outcome).toMatchObject([{ status: 'rejected', reason: { code: 'UNKNOWN' } }]);
});

test('Redis of the site that cannot be reached at the start is waited for', async () => {
  const { clock, world } = open();
  world.memory('dublin').isAway = true;
  const dublin = world.connect('dublin', { siteTimeoutMs: 500 });
  await expect(during(clock, dublin.invokeWeak(get('a')))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED'),
  });
  world.memory('dublin').isAway = false;
  await clock.advance(1_000);
  expect(await during(clock, dublin.invokeWeak(get('a')))).toBeUndefined();
});

test('a site starts while the Redis of another one gives no reply', async () => {
  const { clock, world, dublin } = await openBoth();
  await during(clock, dublin.close());
  world.memory('oregon').isSilent = true;
  const again = world.connect('dublin');
  await during(clock, again.invoke(put('a', 1)));
});

test('close ends while the Redis of the site gives no reply', async () => {
  const { clock, world, dublin } = await openBoth();
  world.memory('dublin').isSilent = true;
  let isClosed = false;
  void dublin.close().then(() => (isClosed = true));
  await clock.advance(600);
  expect(isClosed).toBe(true);
  expect(world.closedStores).toEqual(['dublin']);
});

test('a write that Redis refuses is repeated, and then fails with the reason', async () => {
  const { clock, world } = open();
  const dublin = world.connect('dublin', { siteTimeoutMs: 1_000 });
  await clock.advance(200);
  world.memory('dublin').writeRefusal = 'NOREPLICAS Not enough good replicas to write.';
  const refused = dublin.invoke(put('a', 1));
  await expect(during(clock, refused)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('NOREPLICAS'),
  });
  const write = dublin.invoke(put('a', 1));
  await clock.advance(100);
  world.memory('dublin').writeRefusal = undefined;
  await during(clock, write);
});

test('sites that are prepared at once, in different orders, are one deployment', async () => {
  const clock = virtualClock(1_000_000_000);
  const world = new CausalRedisWorld({ clock });
  const { dublin, oregon } = world.createSources() as Record<string, { nodes: string[] }>;
  const both = Promise.all([
    world.prepare('oregon', { sites: { oregon: oregon!, dublin: dublin! } }),
    world.prepare('dublin'),
  ]);
  const [first, second] = await during(clock, both);
  expect(first.sites).toEqual(second.sites);
});

test('sites that are prepared at once with different numbers of partitions are reported', async () => {
  const clock = virtualClock(1_000_000_000);
  const world = new CausalRedisWorld({ clock });
  const both = Promise.allSettled([
    world.prepare('oregon', { partitions: 2 }),
    world.prepare('dublin', { partitions: 3 }),
  ]);
  const outcomes = await during(clock, both);
  const reasons = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code);
  expect(reasons).toContain('INVALID_ARGUMENT');
});

test('stringNumbers of ioredis → INVALID_ARGUMENT with the field', () => {
  const { world } = open();
  const sites = { dublin: { nodes: ['dublin:6379'], redisOptions: { stringNumbers: true } } };
  expect(() => world.open('dublin', { sites })).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      field: 'sites.dublin.redisOptions.stringNumbers',
    }),
  );
});
