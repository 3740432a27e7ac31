import { expect, test } from 'vitest';
import { DEFAULT_LIMITS, type CausalLimits } from '../../../src/causal/limits.ts';
import type {
  PullReply,
  PutReply,
  PutRequest,
  ReadReply,
  ReadRequest,
} from '../../../src/causal/partition-calls.ts';
import { copyPartitionState } from '../../../src/causal/partition-state.ts';
import { Partition } from '../../../src/causal/partition.ts';

const NOW = 10_000_000;

function createPartition(site = 0, limits: Partial<CausalLimits> = {}): Partition {
  return new Partition({ site, siteCount: 2, limits: { ...DEFAULT_LIMITS, ...limits } });
}

let ids = 0;
const putRequest = (key: string, request: Partial<PutRequest> = {}): PutRequest => ({
  key,
  kind: 'value',
  value: `${key}${ids}`,
  ttl: 0,
  id: `id${ids++}`,
  dependencies: [0, 0],
  stable: [0, 0],
  siteTime: NOW,
  lastSeen: 0,
  ...request,
});
const readRequest = (snapshot: number[], request: Partial<ReadRequest> = {}): ReadRequest => ({
  keys: ['x'],
  snapshot,
  acceptsMissing: false,
  siteTime: NOW,
  lastSeen: 0,
  ...request,
});

function put(
  partition: Partition,
  key: string,
  request: Partial<PutRequest> = {},
  now = NOW,
): number {
  return (partition.execute('put', putRequest(key, request), now) as PutReply).stamp;
}
function read(partition: Partition, snapshot: number[], now = NOW): readonly unknown[] {
  const { versions } = partition.execute('read', readRequest(snapshot), now) as ReadReply;
  return versions.map((version) => version?.stamp);
}
const state = (partition: Partition, now = NOW) =>
  partition.execute(
    'state',
    { siteClock: 0, stable: [now, now], siteTime: now, lastSeen: 0 },
    now,
  ) as never as {
    lastOwnStamp: number;
    received: number[];
    cursors: { entry: number; stamp: number }[];
    clock: number;
    suspicions: number;
    healedSuspicions: number;
  };
const pull = (
  source: Partition,
  cursor = { entry: 0, stamp: 0 },
  promiseHeld = 0,
  maxEntries = 200,
  now = NOW,
) =>
  source.execute(
    'pull',
    { requester: 1, siteTime: now, cursor, promiseHeld, maxEntries },
    now,
  ) as PullReply;
/** The gateway of the source finds that nothing is missing: until then it promises nothing. */
const pullConfirmed = (source: Partition): PullReply => {
  state(source);
  return pull(source);
};
const apply = (
  target: Partition,
  source: number,
  pulled: PullReply,
  expectedCursor = { entry: 0, stamp: 0 },
  now = NOW,
) => target.execute('apply', { source, expectedCursor, stable: [0, 0], ...pulled }, now);

test('a put gets a stamp above the clock, above earlier stamps and above its dependencies (CAUSAL-1)', () => {
  const partition = createPartition();
  expect(put(partition, 'x')).toBe(NOW);
  expect(put(partition, 'y')).toBe(NOW + 1);
  expect(put(partition, 'x', { dependencies: [NOW + 50, 7] })).toBe(NOW + 51);
  expect(put(partition, 'x', { dependencies: [0, NOW + 90] })).toBe(NOW + 91);
});

test('a version depends on what its session has seen, and on itself (CAUSAL-1)', () => {
  const partition = createPartition();
  put(partition, 'x', { dependencies: [3, 7] });
  expect(partition.state.chains.get('x')).toMatchObject([{ dependencies: [NOW, 7] }]);
});

test('a put overwrites the visible version of a site whose clock is ahead (CAUSAL-2)', () => {
  const [local, remote] = [createPartition(0), createPartition(1)];
  const ahead = put(remote, 'x', { siteTime: NOW + 400_000 }, NOW + 400_000);
  apply(local, 1, pull(remote));
  expect(put(local, 'x', { stable: [0, NOW + 500_000] })).toBe(ahead + 1);
  expect(put(createPartition(0), 'x')).toBe(NOW);
});

test('a read raises the clock, so that no later put lies in its snapshot (CAUSAL-4)', () => {
  const partition = createPartition();
  expect(read(partition, [NOW + 300, 0])).toEqual([undefined]);
  expect(put(partition, 'x')).toBe(NOW + 301);
});

test('a read answers TOO_OLD if the partition has dropped what it needs (CAUSAL-7)', () => {
  const partition = createPartition(0, { maxVersions: 1 });
  const first = put(partition, 'x');
  put(partition, 'x');
  expect(partition.execute('read', readRequest([first, 0]), NOW)).toEqual({ refused: 'TOO_OLD' });
});

test('a partition whose clock is off answers CLOCK, but not to a request that has waited (CAUSAL-8)', () => {
  const partition = createPartition();
  const at = (now: number) => partition.execute('read', readRequest([NOW, 0]), now);
  expect(at(NOW - 600_000)).toEqual({ refused: 'CLOCK' });
  expect(at(NOW + 5_000_000)).toEqual({ refused: 'CLOCK' });
  expect(at(NOW + 4_000_000)).toMatchObject({ versions: [undefined] });
});

test('no stamp from elsewhere moves the clock far ahead (CAUSAL-8)', () => {
  const partition = createPartition();
  const far = NOW + 600_000;
  const calls = [
    partition.execute('read', readRequest([far, 0]), NOW),
    partition.execute('put', putRequest('x', { dependencies: [far, 0] }), NOW),
    partition.execute('snapshot', { atLeast: far }, NOW),
    pull(partition, { entry: 0, stamp: 0 }, far),
    apply(partition, 1, { entries: [], cursor: { entry: 0, stamp: 0 }, promise: far }),
  ];
  for (const reply of calls) expect(reply).toEqual({ refused: 'CLOCK' });
  partition.execute('state', { siteClock: far, stable: [0, 0], siteTime: NOW, lastSeen: 0 }, NOW);
  expect(put(partition, 'x')).toBe(NOW);
});

test('a pull returns the entries after the cursor in their order, with a promise (CAUSAL-9, CAUSAL-10)', () => {
  const source = createPartition();
  const stamps = [put(source, 'x'), put(source, 'y'), put(source, 'x')];
  source.execute('state', { siteClock: 0, stable: [0, 0], siteTime: NOW + 400, lastSeen: 0 }, NOW);
  const all = pull(source);
  expect(all.entries.map(({ stamp }) => stamp)).toEqual(stamps);
  expect(all.promise).toBeGreaterThanOrEqual(stamps[2] as number);
  expect(put(source, 'x')).toBeGreaterThan(all.promise);
});

test('the promise of a pull is not above the entries that it leaves behind (CAUSAL-10)', () => {
  const source = createPartition();
  const [first] = [put(source, 'x'), put(source, 'y')];
  state(source);
  expect(pull(source, { entry: 0, stamp: 0 }, 0, 1)).toMatchObject({
    promise: first,
    cursor: { entry: 1 },
  });
});

test('a source promises nothing that its gateway has not confirmed (CAUSAL-10, CAUSAL-13)', () => {
  const source = createPartition();
  const confirm = (lastSeen: number) =>
    source.execute('state', { siteClock: 0, stable: [NOW, NOW], siteTime: NOW, lastSeen }, NOW);
  const backup = copyPartitionState(source.state);
  const lastSeen = put(source, 'x');
  expect(pull(source).promise).toBe(0);
  confirm(lastSeen);
  expect(pull(source).promise).toBe(NOW);
  source.state = backup;
  confirm(lastSeen);
  expect(pull(source).promise).toBe(0);
  expect(source.execute('read', readRequest([NOW, 0]), NOW)).toEqual({ refused: 'REWOUND' });
});

test('a poll that has waited confirms what was known when it was sent (CAUSAL-10)', () => {
  const source = createPartition();
  const execute = (siteTime: number) =>
    source.execute('state', { siteClock: 0, stable: [0, 0], siteTime, lastSeen: 0 }, NOW + 400);
  execute(NOW);
  expect(pull(source, undefined, 0, 200, NOW + 400).promise).toBe(NOW);
  execute(NOW + 300);
  execute(NOW + 100);
  expect(pull(source, undefined, 0, 200, NOW + 400).promise).toBe(NOW + 300);
});

test('a source that has lost its clock keeps the promise that the other site holds (CAUSAL-10)', () => {
  const source = createPartition();
  pull(source, { entry: 0, stamp: 0 }, NOW + 400);
  expect(put(source, 'x')).toBe(NOW + 401);
});

test('apply moves the cursor together with the versions, and refuses another cursor (CAUSAL-11)', () => {
  const [source, target] = [createPartition(0), createPartition(1)];
  const stamp = put(source, 'x');
  const pulled = pull(source);
  expect(apply(target, 0, pulled)).toEqual({ belowPromise: 0 });
  expect(state(target)).toMatchObject({
    received: [pulled.promise, 0],
    cursors: [{ entry: 1, stamp }, {}],
  });
  expect(apply(target, 0, pulled)).toEqual({ refused: 'STALE' });
});

test('apply counts the writes below the promise of the source, and keeps them (CAUSAL-11)', () => {
  const [source, target] = [createPartition(0), createPartition(1)];
  const stamp = put(source, 'x');
  expect(
    apply(target, 0, { ...pullConfirmed(source), entries: [], cursor: { entry: 0, stamp: 0 } }),
  ).toEqual({
    belowPromise: 0,
  });
  expect(apply(target, 0, pull(source))).toEqual({ belowPromise: 1 });
  expect(read(target, [stamp, NOW])).toEqual([stamp]);
});

test('a read whose snapshot is ahead of what was received answers BEHIND (CAUSAL-13)', () => {
  const partition = createPartition();
  expect(partition.execute('read', readRequest([NOW, 5]), NOW)).toEqual({ refused: 'BEHIND' });
  expect(
    partition.execute('read', readRequest([NOW, 5], { acceptsMissing: true }), NOW),
  ).toMatchObject({
    versions: [undefined],
  });
});

test('a partition with a lower last stamp than the gateway has seen answers REWOUND (CAUSAL-13)', () => {
  const partition = createPartition();
  const backup = copyPartitionState(partition.state);
  const lastSeen = put(partition, 'x');
  partition.state = backup;
  expect(partition.execute('put', putRequest('x', { lastSeen }), NOW)).toEqual({
    refused: 'REWOUND',
  });
  expect(partition.execute('read', readRequest([NOW, 0], { lastSeen }), NOW)).toEqual({
    refused: 'REWOUND',
  });
});

test('a pull from an entry that was lost answers LOST, and the source refuses its clients (CAUSAL-13, CAUSAL-14)', () => {
  const source = createPartition();
  const backup = copyPartitionState(source.state);
  put(source, 'x');
  const { cursor } = pull(source);
  source.state = backup;
  expect(pull(source, cursor)).toEqual({ refused: 'LOST' });
  expect(source.execute('read', readRequest([NOW, 0]), NOW)).toEqual({ refused: 'REWOUND' });
});

test('a pull from an entry that was replaced answers LOST (CAUSAL-10, CAUSAL-14)', () => {
  const source = createPartition();
  const backup = copyPartitionState(source.state);
  put(source, 'x');
  const { cursor } = pull(source);
  source.state = backup;
  put(source, 'y', {}, NOW + 900);
  expect(pull(source, cursor)).toEqual({ refused: 'LOST' });
});

test('a merge does not move what was received, nor the cursor (CAUSAL-14)', () => {
  const [source, target] = [createPartition(0), createPartition(1)];
  put(source, 'x');
  const { chains } = source.execute('scan', { page: '', maxKeys: 9 }, NOW) as never as {
    chains: never;
  };
  target.execute('merge', { chains, hasLostState: false }, NOW);
  expect(state(target)).toMatchObject({ received: [0, 0], cursors: [{ entry: 0 }, { entry: 0 }] });
  expect(target.state.chains.get('x')).toHaveLength(1);
});

test('a heal brings own writes back, and other sites must copy them too (CAUSAL-14)', () => {
  const [source, target] = [createPartition(0), createPartition(1)];
  const backup = copyPartitionState(source.state);
  const stamp = put(source, 'x');
  apply(target, 0, pull(source));
  source.state = backup;
  const suspicion = source.execute('suspect', {}, NOW) as { suspicions: number };
  const { chains } = target.execute('scan', { page: '', maxKeys: 9 }, NOW) as never as {
    chains: never;
  };
  source.execute('merge', { chains, hasLostState: true }, NOW);
  expect(source.execute('read', readRequest([NOW, 0]), NOW)).toEqual({ refused: 'REWOUND' });
  const siteClock = NOW + 7;
  expect(source.execute('confirmHealed', { ...suspicion, siteClock }, NOW)).toEqual({
    clock: siteClock,
    lastOwnStamp: stamp,
  });
  expect(read(source, [NOW, 0])).toEqual([stamp]);
  expect(state(source)).toMatchObject({ lastOwnStamp: stamp });
  expect(pull(source)).toEqual({ refused: 'LOST' });
  expect(put(source, 'x', { lastSeen: stamp })).toBeGreaterThan(stamp);
});

test('a heal does not end if the partition has lost state again since it began (CAUSAL-14)', () => {
  const partition = createPartition();
  const backup = copyPartitionState(partition.state);
  const suspicion = partition.execute('suspect', {}, NOW) as { suspicions: number };
  partition.state = backup;
  expect(partition.execute('confirmHealed', { ...suspicion, siteClock: 0 }, NOW)).toEqual({
    refused: 'REWOUND',
  });
  partition.execute('suspect', {}, NOW);
  expect(partition.execute('read', readRequest([NOW, 0]), NOW)).toEqual({ refused: 'REWOUND' });
});

test('a scan returns all chains in pages (CAUSAL-14)', () => {
  const partition = createPartition();
  for (const key of ['c', 'a', 'b']) put(partition, key);
  const scan = (page: string) =>
    partition.execute('scan', { page, maxKeys: 2 }, NOW) as never as {
      chains: [string][];
      nextPage?: string;
    };
  expect(scan('')).toMatchObject({
    chains: [
      ['a', {}],
      ['b', {}],
    ],
    nextPage: 'b',
  });
  expect(scan('b')).toMatchObject({ chains: [['c', {}]], nextPage: undefined });
});

test('own entries that all sites have are dropped when their ids are old (CAUSAL-16)', () => {
  const partition = createPartition(0, { keepIdsFor: 100 });
  for (const key of ['x', 'y', 'z']) put(partition, key);
  const { cursor } = pull(partition);
  put(partition, 'x');
  pull(partition, cursor);
  const later = { siteTime: NOW + 500 };
  for (const key of ['x', 'y', 'z']) put(partition, key, later, NOW + 500);
  expect(partition.state.own.count).toBe(7);
  // The eighth put looks for what is old.
  put(partition, 'x', later, NOW + 500);
  // The entry at the cursor stays, since the next pull names it.
  expect(partition.state.own.count).toBe(6);
  expect(pull(partition, cursor).entries).toHaveLength(5);
  expect(partition.state.own.ids.size).toBe(4);
});

test('too many own entries: the oldest are dropped with an alarm, and a pull from before them answers LOST (CAUSAL-16)', () => {
  const partition = createPartition(0, { maxOwnEntries: 2 });
  put(partition, 'x');
  put(partition, 'x');
  expect(partition.execute('put', putRequest('x'), NOW)).toMatchObject({ droppedEntries: 1 });
  expect(pull(partition)).toEqual({ refused: 'LOST' });
  expect(state(partition)).toMatchObject({ suspicions: 0 });
});

test('too many bytes of own entries: the oldest go, with an alarm only if a site lacks them (CAUSAL-16)', () => {
  const limits = { maxOwnEntryBytes: 1_000 };
  const value = new Uint8Array(100);
  const [away, near] = [createPartition(0, limits), createPartition(0, limits)];
  for (const id of ['a', 'b']) put(away, 'x', { value, id });
  expect(away.execute('put', putRequest('x', { value, id: 'c' }), NOW)).toMatchObject({
    droppedEntries: 1,
  });
  expect(away.state.own).toMatchObject({ count: 2, bytes: 800 });

  for (const id of ['a', 'b']) put(near, 'x', { value, id });
  pull(near, pull(near).cursor);
  expect(near.execute('put', putRequest('x', { value, id: 'c' }), NOW)).toMatchObject({
    droppedEntries: 0,
  });
  expect(put(near, 'x', { value, id: 'a' })).toBe(NOW);
});

test('the ids of dropped entries are known for their time (CAUSAL-16, CAUSAL-17)', () => {
  const partition = createPartition(0, { maxOwnEntries: 1 });
  const first = put(partition, 'x', { id: 'first' });
  put(partition, 'x');
  put(partition, 'x');
  expect(partition.state.own.count).toBe(1);
  expect(put(partition, 'x', { id: 'first' })).toBe(first);
});

test('a put with a known id gets the first stamp and writes nothing (CAUSAL-17)', () => {
  const partition = createPartition();
  const stamp = put(partition, 'x', { id: 'same' });
  put(partition, 'x');
  expect(put(partition, 'x', { id: 'same' })).toBe(stamp);
  expect(partition.state.own.count).toBe(2);
});

test('a tombstone stays while an older write may arrive, and as long as it must (CAUSAL-18)', () => {
  const partition = createPartition(0, { keepTombstonesFor: 1_000, keepVersionsFor: 0 });
  put(partition, 'x');
  put(partition, 'x', { kind: 'tombstone', stable: [0, NOW] });
  state(partition, NOW + 5_000);
  expect(partition.state.chains.has('x')).toBe(true);
  apply(partition, 1, { entries: [], cursor: { entry: 0, stamp: 0 }, promise: NOW + 100 });
  state(partition, NOW + 500);
  expect(partition.state.chains.has('x')).toBe(true);
  state(partition, NOW + 5_000);
  expect(partition.state.chains.has('x')).toBe(false);
});

test('a key that was written again is not dropped for its old tombstone (CAUSAL-18)', () => {
  const partition = createPartition(0, { keepTombstonesFor: 1_000, keepVersionsFor: 0 });
  put(partition, 'x', { kind: 'tombstone' });
  put(partition, 'x', { stable: [0, NOW] });
  apply(partition, 1, { entries: [], cursor: { entry: 0, stamp: 0 }, promise: NOW + 100 });
  state(partition, NOW + 5_000);
  expect(partition.state.chains.has('x')).toBe(true);
  expect(partition.state.removable.items).toEqual([]);
});

test('most polls look for no key to drop, unless the last one dropped some (CAUSAL-18)', () => {
  const interval = 10;
  const partition = createPartition(0, {
    keepTombstonesFor: 86_400 * interval,
    keepVersionsFor: 0,
  });
  const due = NOW + 86_400 * interval;
  for (let key = 0; key < 25; key += 1) put(partition, `${key}`, { kind: 'tombstone' });
  apply(partition, 1, { entries: [], cursor: { entry: 0, stamp: 0 }, promise: NOW + 100 });
  state(partition, due - 5);
  state(partition, due + 4);
  expect(partition.state.chains.size).toBe(25);
  state(partition, due + 30);
  expect(partition.state.chains.size).toBe(5);
  state(partition, due + 30);
  expect(partition.state.chains.size).toBe(0);
});

test('a value with a time to live is dropped like a tombstone, counted from its end (CAUSAL-18)', () => {
  const partition = createPartition(0, { keepTombstonesFor: 1_000 });
  put(partition, 'x', { ttl: 10_000 });
  apply(partition, 1, { entries: [], cursor: { entry: 0, stamp: 0 }, promise: NOW + 100 });
  state(partition, NOW + 10_500);
  expect(partition.state.chains.has('x')).toBe(true);
  state(partition, NOW + 11_500);
  expect(partition.state.chains.has('x')).toBe(false);
});
