/**
 * What the papers' profile (W = 1) is honest about: finals known to be stale, and sessions that are
 * kept or refused.
 */
import { expect, test } from 'vitest';
import {
  defineStatements,
  oneRow,
  type CassandraOptions,
} from '../../../../src/bindings/cassandra/index.ts';
import {
  isOlder,
  SeenVersions,
} from '../../../../src/bindings/cassandra/session-guarantees/seen-versions.ts';
import { get, getMany, put } from '../../../../src/operations/index.ts';
import { z } from 'zod';
import { bothReads, openFake, valueRow, type FakeDriver } from './fake-driver.ts';

const PAPER = { write: 'ONE' } as const;

const statements = defineStatements({
  name: {
    access: 'read',
    cql: 'SELECT name FROM users WHERE user = :user',
    args: z.object({ user: z.string() }),
    result: oneRow((row) => row['name']),
  },
});

const open = <const O extends Partial<CassandraOptions>>(options: O = {} as O) =>
  openFake({ statements, ...options });

/** Does a write. Returns its time. */
async function write(fake: FakeDriver, written: PromiseLike<unknown>): Promise<number> {
  const executed = await fake.next();
  executed.answer();
  await written;
  return executed.options.timestamp ?? 0;
}

test('levels: W = 1 → the final level is called quorum', () => {
  expect(open(PAPER).binding.consistencyLevels()).toEqual(['weak', 'quorum']);
});

test('W = 1: a final older than our own write → counted as stale', async () => {
  const { fake, binding, client } = open(PAPER);
  const at = await write(fake, client.invoke(put('k', 2)));
  const read = client.invokeStrong(get('k'));
  (await fake.next()).answer({ rows: [valueRow('k', 1, at - 1)] });
  expect(await read).toBe(1);
  expect(binding.stats).toMatchObject({ finals: 1, staleFinals: 1 });
});

test('W = 1: our own write is nowhere to be seen → not counted: it may have been deleted', async () => {
  const { fake, binding, client } = open(PAPER);
  await write(fake, client.invoke(put('k', 2)));
  const read = client.invokeStrong(getMany(['other', 'k']));
  (await fake.next()).answer({ rows: [] });
  expect(await read).toEqual([undefined, undefined]);
  expect(binding.stats).toMatchObject({ finals: 1, staleFinals: 0 });
});

test('W = 1: a write that is answered while the read is in flight → the older value is no staleness', async () => {
  const { fake, binding, client } = open(PAPER);
  const read = client.invokeStrong(get('k'));
  const reading = await fake.next();
  const at = await write(fake, client.invoke(put('k', 2)));
  reading.answer({ rows: [valueRow('k', 1, at - 1)] });
  expect(await read).toBe(1);
  expect(binding.stats).toMatchObject({ finals: 1, staleFinals: 0 });
});

test('W = 1: the weak view is newer than the final → regressed, and counted', async () => {
  const { fake, binding, client } = open(PAPER);
  const read = client.invoke(get('k'));
  const { weak: weakRead, strong: strongRead } = await bothReads(fake);
  weakRead.answer({ rows: [valueRow('k', 'new', 9)] });
  await read.when('weak');
  strongRead.answer({ rows: [valueRow('k', 'old', 3)] });
  expect(await read.settle()).toMatchObject({ level: 'quorum', value: 'old', regressed: true });
  expect(binding.stats).toMatchObject({ regressed: 1, diverged: 1, staleFinals: 0 });
});

test('W = 1: a final older than one that was shown before → counted as stale', async () => {
  const { fake, binding, client } = open(PAPER);
  for (const version of [9, 3]) {
    const read = client.invokeStrong(get('k'));
    (await fake.next()).answer({ rows: [valueRow('k', version, version)] });
    expect(await read).toBe(version);
  }
  expect(binding.stats).toMatchObject({ finals: 2, staleFinals: 1 });
});

test('weak level alone: behind our own write → as it may be, and not counted', async () => {
  const { fake, binding, client } = open();
  const at = await write(fake, client.invoke(put('k', 2)));
  const read = client.invokeWeak(get('k'));
  (await fake.next()).answer({ rows: [valueRow('k', 1, at - 1)] });
  expect(await read).toBe(1);
  expect(binding.stats).toMatchObject({ finals: 0, staleFinals: 0 });
});

test('an early view shows a write that is still in flight → no later final view is stale for that', async () => {
  const { fake, binding, client } = open();
  for (const [weak, strong] of [
    [9, 3],
    [3, 3],
  ] as const) {
    const read = client.invoke(get('k'));
    const { weak: weakRead, strong: strongRead } = await bothReads(fake);
    weakRead.answer({ rows: [valueRow('k', weak, weak)] });
    await read.when('weak');
    strongRead.answer({ rows: [valueRow('k', strong, strong)] });
    expect(await read).toBe(strong);
  }
  expect(binding.stats).toMatchObject({ finals: 2, diverged: 1, regressed: 1, staleFinals: 0 });
});

test('versions: more objects than are kept → the ones seen longest ago are forgotten, which is known', () => {
  const seen = new SeenVersions(2);
  for (const [id, version] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    seen.learn({ id, version });
  expect(seen.get('a')).toMatchObject({ version: 3, isForgotten: false });
  expect(seen.get('b')).toMatchObject({ version: undefined, isForgotten: true, uncertainUpTo: 2 });
  expect(seen.get('c')).toMatchObject({ version: 4, isForgotten: false });
});

test('versions: older, the same with another value, absent → only the first two are behind', () => {
  const seen = {
    version: 5,
    content: 'x',
    isSettled: true,
    uncertainUpTo: -Infinity,
    isForgotten: false,
  };
  const shown = (version: number | undefined, content?: string) =>
    isOlder({ id: 'a', version, content }, seen);
  expect([shown(4), shown(5, 'y'), shown(5, 'x'), shown(5), shown(6), shown(undefined)]).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('session: the one replica is behind what was written → its view is left out', async () => {
  const { fake, client } = open();
  using session = client.session();
  const at = await write(fake, client.invoke(put('k', 2), { session }));
  const levels: string[] = [];
  const read = client.invoke(get('k'), { session });
  read.subscribe(({ level }) => void levels.push(level));
  const { weak: weakRead, strong: strongRead } = await bothReads(fake);
  weakRead.answer({ rows: [valueRow('k', 1, at - 1)] });
  strongRead.answer({ rows: [valueRow('k', 2, at)] });
  expect(await read).toBe(2);
  expect(levels).toEqual(['strong']);
});

test('session: only the weak level is asked for, and it is behind → the stronger one answers', async () => {
  const { fake, client } = open();
  using session = client.session();
  const at = await write(fake, client.invoke(put('k', 2), { session }));
  const read = client.invoke(get('k'), { session, levels: ['weak'] }).settle();
  (await fake.next()).answer({ rows: [] });
  const stronger = await fake.next();
  expect(stronger.consistency).toBe('QUORUM');
  stronger.answer({ rows: [valueRow('k', 2, at)] });
  expect(await read).toMatchObject({ level: 'strong', value: 2 });
});

test('session: the one replica is not behind → its view is given', async () => {
  const { fake, client } = open();
  using session = client.session();
  const at = await write(fake, client.invoke(put('k', 2), { session }));
  const read = client.invoke(get('k'), { session, levels: ['weak'] }).settle();
  (await fake.next()).answer({ rows: [valueRow('k', 3, at + 1)] });
  expect(await read).toMatchObject({ level: 'weak', value: 3 });
});

test('session: a statement without a version → no weak view, since its age is unknown', async () => {
  const { fake, client } = open();
  using session = client.session();
  const read = client.invoke(statements.name({ user: 'ada' }), { session });
  for (const reading of [await fake.next(), await fake.next()])
    reading.answer({ rows: [{ name: 'Ada' }] });
  expect(await read.settle()).toMatchObject({ level: 'strong', confirms: false, value: 'Ada' });
});

/** A read in a session whose early view is newer than the final one of the quorum. */
async function readOlderAtLast() {
  const { fake, client } = open();
  const read = client.invoke(get('k'), { session: client.session() });
  const { weak: weakRead, strong: strongRead } = await bothReads(fake);
  weakRead.answer({ rows: [valueRow('k', 'new', 9)] });
  await read.when('weak');
  strongRead.answer({ rows: [valueRow('k', 'old', 3)] });
  return { fake, read };
}

test('session: the final is older than the early view that was shown → REPLICA_BEHIND, not a step back', async () => {
  const { fake, read } = await readOlderAtLast();
  (await fake.next()).answer({ rows: [valueRow('k', 'old', 3)] });
  await expect(read).rejects.toMatchObject({ code: 'REPLICA_BEHIND', lastView: { value: 'new' } });
});

test('session: the final is older than the early view, asked once more it is not → the newer one', async () => {
  const { fake, read } = await readOlderAtLast();
  const again = await fake.next();
  expect(again.consistency).toBe('QUORUM');
  again.answer({ rows: [valueRow('k', 'new', 9)] });
  expect(await read.settle()).toMatchObject({ level: 'strong', value: 'new', confirms: true });
});

test('session: a write that is answered while a read is in flight → the older value is no failure', async () => {
  const { fake, client } = open();
  using session = client.session();
  const read = client.invoke(get('k'), { session, levels: ['strong'] });
  const reading = await fake.next();
  const at = await write(fake, client.invoke(put('k', 2), { session }));
  reading.answer({ rows: [valueRow('k', 1, at - 1)] });
  expect(await read).toBe(1);
  const later = client.invoke(get('k'), { session, levels: ['strong'] });
  (await fake.next()).answer({ rows: [valueRow('k', 2, at)] });
  expect(await later).toBe(2);
});

test('session: deleted, or expired → absent; then no view of what was before, but of what is written again', async () => {
  const { fake, binding, client } = open();
  using session = client.session();
  const at = await write(fake, client.invoke(put('k', 1), { session }));
  const strong = client.invoke(get('k'), { session, levels: ['strong'] });
  (await fake.next()).answer({ rows: [] });
  expect(await strong).toBeUndefined();
  // One replica has not heard of it yet.
  const weak = client.invoke(get('k'), { session, levels: ['weak'] }).settle();
  (await fake.next()).answer({ rows: [valueRow('k', 1, at)] });
  (await fake.next()).answer({ rows: [] });
  expect(await weak).toMatchObject({ level: 'strong', value: undefined });
  const absent = client.invoke(get('k'), { session, levels: ['weak'] }).settle();
  (await fake.next()).answer({ rows: [] });
  expect(await absent).toMatchObject({ level: 'weak', value: undefined });
  const again = await write(fake, client.invoke(put('k', 2), { session }));
  const later = client.invoke(get('k'), { session, levels: ['weak'] }).settle();
  (await fake.next()).answer({ rows: [valueRow('k', 2, again)] });
  expect(await later).toMatchObject({ level: 'weak', value: 2 });
  expect(binding.stats.staleFinals).toBe(0);
});

test('session: one of several keys was deleted → the others are read', async () => {
  const { fake, client } = open();
  using session = client.session();
  const at = await write(fake, client.invoke(put('a', 1), { session }));
  await write(fake, client.invoke(put('b', 2), { session }));
  const read = client.invoke(getMany(['a', 'b']), { session, levels: ['strong'] });
  (await fake.next()).answer({ rows: [valueRow('a', 1, at)] });
  expect(await read).toEqual([1, undefined]);
});

test('session: another write of the same time was kept instead of ours → reported once, and counted', async () => {
  const { fake, binding, client } = open();
  using session = client.session();
  const at = await write(fake, client.invoke(put('k', 'aa'), { session }));
  const read = client.invoke(get('k'), { session, levels: ['strong'] });
  for (let n = 0; n < 2; n += 1) (await fake.next()).answer({ rows: [valueRow('k', 'zz', at)] });
  await expect(read).rejects.toMatchObject({ code: 'REPLICA_BEHIND', retryable: true });
  const again = client.invoke(get('k'), { session, levels: ['strong'] });
  (await fake.next()).answer({ rows: [valueRow('k', 'zz', at)] });
  expect(await again).toBe('zz');
  expect(binding.stats).toMatchObject({ finals: 1, staleFinals: 1 });
});

test('session: two writes of one time, all replicas have another one than was shown → fails with REPLICA_BEHIND once', async () => {
  const { fake, client } = open();
  using session = client.session();
  const weak = client.invoke(get('k'), { session, levels: ['weak'] });
  (await fake.next()).answer({ rows: [valueRow('k', 'aa', 7)] });
  expect(await weak).toBe('aa');
  const read = client.invoke(get('k'), { session, levels: ['strong'] });
  for (const rows of [[], [valueRow('k', 'zz', 7)], [valueRow('k', 'zz', 7)]])
    (await fake.next()).answer({ rows });
  await expect(read).rejects.toMatchObject({ code: 'REPLICA_BEHIND', retryable: true });
  const again = client.invoke(get('k'), { session, levels: ['strong'] });
  (await fake.next()).answer({ rows: [valueRow('k', 'zz', 7)] });
  expect(await again).toBe('zz');
});

test('session at level quorum: the final view is behind → REPLICA_BEHIND, worth another try', async () => {
  const { fake, client } = open(PAPER);
  using session = client.session();
  const at = await write(fake, client.invoke(put('k', 2), { session }));
  const read = client.invoke(get('k'), { session, levels: ['quorum'] });
  for (let n = 0; n < 2; n += 1) (await fake.next()).answer({ rows: [valueRow('k', 1, at - 1)] });
  await expect(read).rejects.toMatchObject({ code: 'REPLICA_BEHIND', retryable: true });
});

test('session at level quorum: a statement without a version → UNSUPPORTED', async () => {
  const { fake, client } = open(PAPER);
  using session = client.session();
  const read = client.invoke(statements.name({ user: 'ada' }), { session });
  await expect(read).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  expect(fake.executed).toEqual([]);
});
