import { expect, test } from 'vitest';
import { findPartition } from '../../../src/causal/partition-of-key.ts';
import { copyPartitionState } from '../../../src/causal/partition-state.ts';
import { findVisibleVersion } from '../../../src/causal/version-chain.ts';
import { CausalWorld, KEYS } from '../../support/causal-world.ts';

const [FIRST, SECOND] = KEYS;

test('keys with one tag lie in one partition', () => {
  expect(KEYS.map((key) => findPartition(key, 2))).toEqual([0, 1]);
  expect(findPartition('user:{7}:name', 64)).toBe(findPartition('cart:{7}', 64));
});

test('a session reads what it has written, at once (CAUSAL-1, CAUSAL-3)', () => {
  const world = new CausalWorld();
  const session = world.openSession();
  world.put(0, FIRST, 1, { session });
  expect(world.read(0, [FIRST], session)).toEqual([1]);
});

test('a snapshot has no write of another site before what it depends on (CAUSAL-3, CAUSAL-12)', () => {
  const world = new CausalWorld();
  const session = world.openSession();
  world.put(0, FIRST, 'list', { session });
  world.put(0, SECOND, 'photo', { session });
  // The first partition of the other site gets nothing for now.
  world.unreachable.add('1 0');
  world.settle();
  expect(world.partition(1, 1).state.chains.size).toBe(1);
  world.unreachable.clear();
  expect(world.read(1, [FIRST, SECOND])).toEqual([undefined, undefined]);
  world.settle();
  expect(world.read(1, [FIRST, SECOND])).toEqual(['list', 'photo']);
});

test('a snapshot is not below a stamp that the site has seen, also if that clock is ahead (CAUSAL-3)', () => {
  const world = new CausalWorld();
  world.offsets.set('0 1', 100_000);
  world.put(0, SECOND, 'from a fast clock');
  expect(world.read(0, [SECOND])).toEqual(['from a fast clock']);
});

test('a put after a read of the same snapshot is not in it, with clocks apart (CAUSAL-4)', () => {
  const world = new CausalWorld();
  world.offsets.set('0 0', -60_000);
  const session = world.openSession();
  expect(world.read(0, [FIRST, SECOND], session)).toEqual([undefined, undefined]);
  const stamp = world.put(0, FIRST, 1);
  expect(stamp).toBeGreaterThan(session.dependencies[0] as number);
});

test('a wrong clock stops one partition, and all is well when the clock is (CAUSAL-8)', () => {
  const world = new CausalWorld({ partitionCount: 4 });
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const other = keys.find((key) => findPartition(key, 4) !== findPartition('a', 4)) as string;
  world.put(0, 'a', 1);
  world.offsets.set(`0 ${findPartition('a', 4)}`, 3_600_000_000);
  world.settle();
  expect(world.put(0, 'a', 2)).toBe('CLOCK');
  expect(world.read(0, ['a'])).toBe('CLOCK');
  expect(world.put(0, other, 1)).toBeTypeOf('number');
  world.offsets.clear();
  world.settle();
  world.put(0, 'a', 3);
  expect(world.read(0, ['a'])).toEqual([3]);
});

test('a partition that does not answer stops remote news, and no read of the others (CAUSAL-12)', () => {
  const world = new CausalWorld();
  world.settle();
  world.unreachable.add('1 0');
  world.put(0, SECOND, 1);
  world.settle();
  expect(world.read(1, [SECOND])).toEqual([undefined]);
  world.put(1, SECOND, 'local');
  expect(world.read(1, [SECOND])).toEqual(['local']);
});

test('a partition that was set back is healed from the other site (CAUSAL-13, CAUSAL-14)', () => {
  const world = new CausalWorld();
  const backup = copyPartitionState(world.partition(0, 0).state);
  world.put(0, FIRST, 'mine');
  world.put(1, `y{${FIRST}}`, 'theirs');
  world.settle();
  world.partition(0, 0).state = backup;
  expect(world.read(0, [FIRST])).toMatch(/REWOUND|BEHIND/);
  world.settle();
  expect(world.read(0, [FIRST, `y{${FIRST}}`])).toEqual(['mine', 'theirs']);
  expect(world.alarms).toEqual([]);
});

test('a partition that is set back between two polls is noticed by the poll (CAUSAL-13)', () => {
  const world = new CausalWorld();
  world.put(0, FIRST, 1);
  world.settle();
  world.partition(0, 0).state = copyPartitionState(new CausalWorld().partition(0, 0).state);
  world.settle(6);
  expect(world.read(0, [FIRST])).toEqual([1]);
});

test('a late reply to a poll shows no loss, since later ones have raised what is known (CAUSAL-13)', () => {
  const world = new CausalWorld();
  world.settle();
  world.delayedCall = 'state';
  world.site(1).poll();
  world.delayedCall = undefined;
  world.put(0, FIRST, 1);
  world.put(1, SECOND, 2);
  world.settle();
  world.releaseReplies();
  world.site(1).replicate();
  expect(world.partition(1, 0).state.suspicions).toBe(0);
  expect(world.read(1, [FIRST, SECOND])).toEqual([1, 2]);
});

test('writes that no other site has are lost, with an alarm, and sessions go on (CAUSAL-13)', () => {
  const world = new CausalWorld({ siteCount: 1 });
  const session = world.openSession();
  world.put(0, FIRST, 1, { session });
  world.partition(0, 0).state = copyPartitionState(
    new CausalWorld({ siteCount: 1 }).partition(0, 0).state,
  );
  world.settle();
  expect(world.alarms).toEqual([{ code: 'lost-writes', partition: 0 }]);
  world.put(0, FIRST, 2, { session });
  expect(world.read(0, [FIRST], session)).toEqual([2]);
});

test('a site that was away for too many entries copies the partition (CAUSAL-14, CAUSAL-16)', () => {
  const world = new CausalWorld({ limits: { maxOwnEntries: 3 } });
  world.unreachable.add('1 0');
  for (let value = 0; value < 10; value += 1) world.put(0, FIRST, value);
  world.put(0, `x{${FIRST}}`, 'other');
  world.unreachable.clear();
  world.settle();
  expect(world.read(1, [FIRST, `x{${FIRST}}`])).toEqual([9, 'other']);
  expect(world.alarms[0]).toEqual({ code: 'dropped-entries', partition: 0 });
});

test('reads go on at the old snapshot while a partition copies (CAUSAL-15)', () => {
  const world = new CausalWorld({
    limits: { maxOwnEntries: 2, maxScannedKeys: 1, maxVersions: 1 },
  });
  world.put(0, FIRST, 'old');
  world.settle();
  world.unreachable.add('1 0');
  for (let value = 0; value < 5; value += 1) world.put(0, FIRST, value);
  world.settle();
  world.unreachable.clear();
  const { chains } = world.call({ site: 0, partition: 0 }, 'scan', {
    page: '',
    maxKeys: 9,
  }) as never as {
    chains: never;
  };
  world.call({ site: 1, partition: 0 }, 'merge', { chains, hasLostState: false });
  expect(world.read(1, [FIRST])).toEqual(['old']);
  world.settle();
  expect(world.read(1, [FIRST])).toEqual([4]);
});

test('a remove reads as absent at all sites, and an older write does not bring the key back (CAUSAL-18)', () => {
  const world = new CausalWorld();
  world.put(0, FIRST, 1);
  world.settle();
  world.put(1, FIRST, undefined);
  expect(world.read(1, [FIRST])).toEqual([undefined]);
  world.settle();
  expect(world.read(0, [FIRST])).toEqual([undefined]);
});

test('a value reads as absent when its time has passed (CAUSAL-18)', () => {
  const world = new CausalWorld();
  world.put(0, FIRST, 1, { ttl: 50_000 });
  expect(world.read(0, [FIRST])).toEqual([1]);
  world.now += 50_000;
  expect(world.read(0, [FIRST])).toEqual([undefined]);
});

test('a site that was away for longer than deletes are kept starts again from the other (CAUSAL-18)', () => {
  const world = new CausalWorld({
    limits: { keepTombstonesFor: 100_000, maxOwnEntries: 1, keepVersionsFor: 0 },
  });
  world.put(0, FIRST, 1);
  world.settle();
  world.unreachable.add('1 0');
  world.put(0, FIRST, undefined);
  world.put(0, `x{${FIRST}}`, 2);
  world.call({ site: 0, partition: 0 }, 'apply', {
    source: 1,
    expectedCursor: { entry: 0, stamp: 0 },
    cursor: { entry: 0, stamp: 0 },
    entries: [],
    promise: world.now + 1_000,
    stable: [0, 0],
  });
  world.now += 1_000_000;
  world.settle();
  world.call({ site: 0, partition: 0 }, 'state', {
    siteClock: 0,
    stable: [0, world.now],
    siteTime: world.now,
    lastSeen: 0,
  });
  world.unreachable.clear();
  world.settle(10);
  expect(world.partition(0, 0).state.chains.has(FIRST)).toBe(false);
  expect(world.read(1, [FIRST, `x{${FIRST}}`])).toEqual([undefined, 2]);
  expect(world.read(0, [FIRST, `x{${FIRST}}`])).toEqual([undefined, 2]);
});

test('sites that were cut from each other for long lose no write of either (CAUSAL-18)', () => {
  const world = new CausalWorld({
    siteCount: 3,
    limits: { keepTombstonesFor: 100_000, maxOwnEntries: 1, keepVersionsFor: 0 },
  });
  const keys = [0, 1, 2].flatMap((site) =>
    [0, 1, 2, 3].map((index) => `${site}.${index}{${FIRST}}`),
  );
  world.settle();
  for (const key of keys) world.put(Number(key[0]), key, key);
  world.now += 1_000_000;
  world.settle(10);
  for (const site of [0, 1, 2]) expect(world.read(site, keys)).toEqual(keys);
  expect(world.alarms.filter(({ code }) => code !== 'dropped-entries')).toEqual([]);
});

test('a delete that the source forgets while it is copied does not come back (CAUSAL-18)', () => {
  const limits = { keepTombstonesFor: 100_000, maxOwnEntries: 1, keepVersionsFor: 0 };
  const world = new CausalWorld({ partitionCount: 1, limits });
  const source = world.partition(0, 0);
  world.settle();
  world.put(0, 'x', 1);
  world.site(1).replicate();
  world.put(0, 'x', undefined);
  world.put(0, 'y', 2);
  world.now += 1_000_000;

  // Site 1 asks its own partition twice, and then the source, which has received nothing since.
  world.delayedCall = 'state';
  world.site(1).replicate();
  world.releaseReplies();
  world.releaseReplies();
  world.delayedCall = undefined;
  for (let round = 0; round < 4; round += 1) {
    world.now += 20_000;
    world.site(0).replicate();
    world.site(1).poll();
    world.site(0).poll();
  }
  expect(source.state.chains.has('x')).toBe(false);
  world.releaseReplies();

  world.settle();
  expect(world.read(1, ['x', 'y'])).toEqual([undefined, 2]);
});

test('a key that the source has forgotten and written again shows no value from before (CAUSAL-18)', () => {
  const limits = { keepTombstonesFor: 100_000, maxOwnEntries: 1, keepVersionsFor: 0 };
  const world = new CausalWorld({ partitionCount: 1, limits });
  world.put(0, 'x', 'old');
  world.settle();
  const deletedAt = world.put(0, 'x', undefined) as number;
  world.put(0, 'y', 1);
  world.now += 1_000_000;
  for (let round = 0; round < 4; round += 1) {
    world.now += 20_000;
    world.site(0).replicate();
    world.site(1).poll();
    world.site(0).poll();
  }
  expect(world.partition(0, 0).state.chains.has('x')).toBe(false);
  world.put(0, 'x', 'new');
  world.put(0, 'y', 2);

  world.site(1).replicate();
  const chain = world.partition(1, 0).state.chains.get('x') ?? [];
  expect(findVisibleVersion(chain, [deletedAt - 1, world.now])).toMatchObject({ value: 'old' });
  expect(findVisibleVersion(chain, [deletedAt, world.now])).toBe('TOO_OLD');
  world.settle();
  expect(world.read(1, ['x', 'y'])).toEqual(['new', 2]);
});

test('a partition that is far ahead of its site stops to pull, until the site follows (CAUSAL-19)', () => {
  const world = new CausalWorld({ limits: { maxReceivedAhead: 100_000 } });
  world.settle();
  world.unreachable.add('1 1');
  world.settle(20);
  const [received] = world.partition(1, 0).state.received;
  world.settle(20);
  expect(world.partition(1, 0).state.received[0]).toBe(received);
  world.unreachable.clear();
  world.settle(20);
  world.put(0, FIRST, 1);
  world.settle();
  expect(world.read(1, [FIRST])).toEqual([1]);
});

test('a session from another site waits until its writes have arrived (CAUSAL-20)', () => {
  const world = new CausalWorld();
  const session = world.openSession();
  world.put(0, FIRST, 1, { session });
  expect(world.read(1, [FIRST], session)).toBe('SESSION_AHEAD');
  expect(world.put(1, FIRST, 2, { session })).toBe('SESSION_AHEAD');
  world.settle();
  expect(world.read(1, [FIRST], session)).toEqual([1]);
});

test('latest has what any site acknowledged before, and causal does not (CAUSAL-22)', () => {
  const world = new CausalWorld();
  world.put(1, FIRST, 1);
  world.put(0, FIRST, 0);
  world.now += 1_000;
  world.put(1, FIRST, 2);
  expect(world.read(0, [FIRST])).toEqual([0]);
  expect(world.readLatest(0, [FIRST, SECOND])).toEqual([2, undefined]);
});

test('latest fails if a site cannot be reached (CAUSAL-22)', () => {
  const world = new CausalWorld();
  world.unreachable.add('1 0');
  expect(world.readLatest(0, [FIRST])).toBe('UNREACHABLE');
});

test('after latest, the session goes on from what it has read (CAUSAL-20, CAUSAL-22)', () => {
  const world = new CausalWorld();
  const session = world.openSession();
  world.put(1, FIRST, 1);
  world.readLatest(0, [FIRST], session);
  expect(world.read(0, [FIRST], session)).toBe('SESSION_AHEAD');
  world.settle();
  expect(world.read(0, [FIRST], session)).toEqual([1]);
});

test('with a coordinator, a partition of the read gives the stamp of the snapshot (CAUSAL-23)', () => {
  const world = new CausalWorld();
  world.offsets.set('0 0', 70_000);
  const session = world.openSession();
  world.site(0).read(session, { keys: [FIRST], source: 'coordinator' }, () => {});
  expect(session.dependencies[0]).toBe(world.now + 70_000);
});

test('a gateway that starts refuses operations until it has polled (CAUSAL-13)', () => {
  const world = new CausalWorld();
  world.put(0, FIRST, 1);
  world.restart(0, undefined);
  expect(world.read(0, [FIRST])).toBe('STARTING');
  expect(world.put(0, FIRST, 2)).toBe('STARTING');
  world.settle();
  expect(world.read(0, [FIRST])).toEqual([1]);
});

test.each(['what was published', 'what the other site has'])(
  'a gateway that starts after a partition was set back finds it by %s (CAUSAL-13)',
  (source) => {
    const world = new CausalWorld();
    const backup = copyPartitionState(world.partition(0, 0).state);
    world.put(0, FIRST, 'lost and found');
    world.settle();
    const published = world.site(0).getView();
    world.partition(0, 0).state = backup;
    world.restart(0, source === 'what was published' ? published : undefined);
    world.settle();
    expect(world.partition(0, 0).state.healedSuspicions).toBeGreaterThan(0);
    expect(world.read(0, [FIRST])).toEqual(['lost and found']);
  },
);

test('without a published view, a gateway that starts waits for the other site (CAUSAL-13)', () => {
  const world = new CausalWorld();
  const published = world.site(0).getView();
  world.unreachable.add('1 0').add('1 1');
  world.restart(0, undefined);
  world.settle();
  expect(world.read(0, [FIRST])).toBe('STARTING');
  world.restart(0, published);
  world.settle();
  expect(world.read(0, [FIRST])).toEqual([undefined]);
});

test('a gateway takes from another one what is stable, and that a partition was healed (CAUSAL-13, CAUSAL-14)', () => {
  const world = new CausalWorld();
  world.put(1, FIRST, 'remote');
  world.settle();
  const before = world.site(0).getView();
  const follower = world.createSite(0);
  follower.start(before);
  follower.observeView({ ...before, lastSeen: [before.lastSeen[0]! + 500, 0] });
  expect(follower.getView()).toMatchObject({
    stable: before.stable,
    lastSeen: [before.lastSeen[0]! + 500, 0],
  });
  const healedAt = [world.now, 0];
  follower.observeView({ ...before, lastSeen: [7, 0], healedAt, healedTo: [5, 0] });
  expect(follower.getView().lastSeen).toEqual([7, 0]);
  follower.observeView({ ...before, lastSeen: [9_000_000, 0] });
  expect(follower.getView().lastSeen).toEqual([7, 0]);
});

/** A partition loses a write that one gateway has made, and that the leader has not seen. */
function loseWriteOfOneGateway() {
  const world = new CausalWorld({ siteCount: 1 });
  world.settle();
  const leader = world.site(0);
  const backup = copyPartitionState(world.partition(0, 0).state);
  const writer = world.createSite(0);
  world.sites[0] = writer;
  world.put(0, FIRST, 'lost');
  world.partition(0, 0).state = backup;
  return { world, leader, writer };
}

test('a gateway reports lost writes that the gateway which healed the partition had not seen (CAUSAL-13)', () => {
  const { world, leader, writer } = loseWriteOfOneGateway();
  world.now += 1_000;
  expect(world.read(0, [FIRST])).toBe('REWOUND');
  writer.requestHeals();
  leader.poll();
  leader.replicate();
  expect(world.alarms).toEqual([]);
  writer.observeView(leader.getView());
  expect(world.alarms).toEqual([{ code: 'lost-writes', partition: 0 }]);
  expect(world.read(0, [FIRST])).toEqual([undefined]);
});

test('a gateway reports lost writes, also if it sees a write after the heal before it learns of the heal (CAUSAL-13)', () => {
  const { world, leader, writer } = loseWriteOfOneGateway();
  world.now += 10_000;
  expect(world.read(0, [FIRST])).toBe('REWOUND');
  writer.requestHeals();
  leader.poll();
  leader.replicate();
  world.now += 10_000;
  world.sites[0] = leader;
  world.put(0, FIRST, 'after the heal');
  world.sites[0] = writer;
  expect(world.read(0, [FIRST])).toEqual(['after the heal']);
  expect(world.alarms).toEqual([]);
  writer.observeView(leader.getView());
  expect(world.alarms).toEqual([{ code: 'lost-writes', partition: 0 }]);
});

test('a write between the end of a heal and its reply hides no loss (CAUSAL-13, CAUSAL-14)', () => {
  const world = new CausalWorld({ siteCount: 1 });
  world.settle();
  const leader = world.site(0);
  const other = world.createSite(0);
  const backup = copyPartitionState(world.partition(0, 0).state);
  world.put(0, FIRST, 'lost');
  world.partition(0, 0).state = backup;
  world.now += 10_000;
  leader.poll();
  world.delayedCall = 'confirmHealed';
  leader.replicate();
  world.sites[0] = other;
  world.put(0, FIRST, 'after the heal');
  world.releaseReplies();
  expect(world.alarms).toEqual([{ code: 'lost-writes', partition: 0 }]);
});

test('a gateway does not take a write after a heal for a lost one (CAUSAL-13, CAUSAL-14)', () => {
  const world = new CausalWorld({ siteCount: 1 });
  world.settle();
  const leader = world.site(0);
  world.partition(0, 0).execute('suspect', {}, world.now);
  leader.poll();
  leader.replicate();
  const healed = leader.getView();
  world.sites[0] = world.createSite(0);
  const stamp = world.put(0, FIRST, 1);
  world.site(0).observeView(healed);
  expect(world.alarms).toEqual([]);
  expect(world.site(0).getView().lastSeen[0]).toBe(stamp);
});

test.each(['read', 'readLatest'] as const)(
  'what a %s has shown is not missing later, also if another gateway has written it (CAUSAL-13)',
  (read) => {
    const world = new CausalWorld();
    world.settle();
    const backup = copyPartitionState(world.partition(0, 0).state);
    const reader = world.site(0);
    world.sites[0] = world.createSite(0);
    world.put(0, FIRST, 'of another gateway');
    world.sites[0] = reader;
    world.now += 1_000;
    expect(world[read](0, [FIRST])).toEqual(['of another gateway']);
    world.partition(0, 0).state = backup;
    expect(world.read(0, [FIRST])).toBe('REWOUND');
  },
);

/**
 * Sets a partition of the first site back to what it was before its last write, which the other
 * site has.
 */
function setBackAfterWrite(world: CausalWorld): void {
  world.settle();
  const backup = copyPartitionState(world.partition(0, 0).state);
  world.put(0, FIRST, 'mine');
  world.settle();
  world.partition(0, 0).state = backup;
}

function countHeals(world: CausalWorld): { readonly begun: number; readonly ended: number } {
  const { suspicions, healedSuspicions } = world.partition(0, 0).state;
  return { begun: suspicions, ended: healedSuspicions };
}

test('a gateway asks once for a heal, so that a healed partition is not healed again (CAUSAL-14)', () => {
  const world = new CausalWorld();
  const follower = world.createSite(0);
  setBackAfterWrite(world);
  follower.start(world.site(0).getView());
  follower.checkOwnStamps();
  follower.poll();
  follower.requestHeals();
  world.settle();
  expect(countHeals(world)).toEqual({ begun: 1, ended: 1 });
  // The news that it was healed have not arrived.
  follower.requestHeals();
  expect(countHeals(world)).toEqual({ begun: 1, ended: 1 });
});

test.each(['put', 'state'] as const)(
  'a late reply to a %s from before a heal shows no loss (CAUSAL-14)',
  (call) => {
    const world = new CausalWorld();
    setBackAfterWrite(world);
    world.delayedCall = call;
    if (call === 'put') world.put(0, FIRST, 'refused');
    else world.site(0).poll();
    world.delayedCall = undefined;
    world.settle();
    expect(countHeals(world)).toEqual({ begun: 1, ended: 1 });
    world.releaseReplies();
    world.settle();
    expect(countHeals(world)).toEqual({ begun: 1, ended: 1 });
  },
);
