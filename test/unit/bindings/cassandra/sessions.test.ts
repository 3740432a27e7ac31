/**
 * What a session on Cassandra believes of absence, of keys that it has forgotten, and of writes
 * that land late.
 */
import { expect, test } from 'vitest';
import { SessionGuarantees } from '../../../../src/bindings/cassandra/session-guarantees/session-guarantees.ts';
import type { Session } from '../../../../src/index.ts';
import { get, getMany, put } from '../../../../src/operations/index.ts';
import { openFake, valueRow } from './fake-driver.ts';

/** With `write: 'ONE'` the final level is `quorum`. */
function open({
  write = 'QUORUM',
  maxKeys = 100,
}: { write?: 'QUORUM' | 'ONE'; maxKeys?: number } = {}) {
  const { fake, binding, client } = openFake({ write });
  binding.openSession = () => new SessionGuarantees(write === 'QUORUM', maxKeys);
  const session = client.session();
  const isReplyExpected = async (consistency: string, rows: readonly object[]) => {
    const executed = await fake.next();
    expect(executed.consistency).toBe(consistency);
    executed.answer({ rows: [...rows] });
  };
  return {
    fake,
    client,
    session,
    isReplyExpected,
    /** The final level alone. */
    final: (key: string) => client.invokeStrong(get(key), { session }),
    weak: (key: string) => client.invoke(get(key), { session, levels: ['weak'] }).settle(),
    wrote: async (key: string, value: unknown, own: Session = session) => {
      const writing = client.invoke(put(key, value), { session: own });
      const executed = await fake.next();
      executed.answer();
      await writing;
      return executed.options.timestamp ?? 0;
    },
  };
}

test('quorum: a key that may be among the forgotten ones → all replicas are asked, and believed', async () => {
  const { client, session, isReplyExpected, final, wrote } = open({ write: 'ONE', maxKeys: 1 });
  const at = await wrote('a', 1);
  await wrote('b', 2);
  const read = final('a');
  await isReplyExpected('QUORUM', [valueRow('a', 0, at - 1)]);
  await isReplyExpected('ALL', [valueRow('a', 1, at)]);
  expect(await read).toBe(1);
  const many = client.invokeStrong(getMany(['c', 'd']), { session });
  await isReplyExpected('QUORUM', []);
  await isReplyExpected('ALL', []);
  expect(await many).toEqual([undefined, undefined]);
});

test('forgotten keys: newer than all that was forgotten → fine', async () => {
  const { isReplyExpected, weak, wrote } = open({ write: 'ONE', maxKeys: 1 });
  await wrote('a', 1);
  const at = await wrote('b', 2);
  const read = weak('c');
  await isReplyExpected('ONE', [valueRow('c', 3, at)]);
  expect(await read).toMatchObject({ level: 'weak', value: 3 });
});

test('strong: a key that may be among the forgotten ones → no weak view, and the strong one is believed', async () => {
  const { isReplyExpected, weak, wrote } = open({ maxKeys: 1 });
  const at = await wrote('a', 1);
  await wrote('b', 2);
  for (const rows of [[valueRow('a', 3, at)], []]) {
    const read = weak('a');
    await isReplyExpected('ONE', [valueRow('a', 0, at - 1)]);
    await isReplyExpected('QUORUM', rows);
    expect(await read).toMatchObject({ level: 'strong' });
    await wrote('b', 2);
  }
});

test.each(['QUORUM', 'ONE'] as const)(
  'W = %s: written while a read of the session found it absent → the write stays known, and is shown',
  async (write) => {
    const { fake, isReplyExpected, final, weak, wrote } = open({ write });
    const reading = final('k');
    const executed = await fake.next();
    const at = await wrote('k', 'mine');
    executed.answer({ rows: [] });
    expect(await reading).toBeUndefined();
    const later = final('k');
    await isReplyExpected('QUORUM', [valueRow('k', 'mine', at)]);
    expect(await later).toBe('mine');
    const early = weak('k');
    await isReplyExpected('ONE', [valueRow('k', 'mine', at)]);
    expect(await early).toMatchObject({ level: 'weak', value: 'mine' });
    const absent = weak('k');
    await isReplyExpected('ONE', []);
    await isReplyExpected('QUORUM', [valueRow('k', 'mine', at)]);
    expect(await absent).toMatchObject({ value: 'mine' });
  },
);

test('quorum: gone, then a write of before that lands → all replicas are asked, and believed', async () => {
  const { isReplyExpected, final, weak, wrote } = open({ write: 'ONE' });
  const at = await wrote('k', 'old');
  const gone = final('k');
  await isReplyExpected('QUORUM', []);
  await isReplyExpected('ALL', []);
  expect(await gone).toBeUndefined();
  const back = final('k');
  await isReplyExpected('QUORUM', [valueRow('k', 'new', at + 1)]);
  await isReplyExpected('ALL', [valueRow('k', 'new', at + 1)]);
  expect(await back).toBe('new');
  const early = weak('k');
  await isReplyExpected('ONE', [valueRow('k', 'new', at + 1)]);
  expect(await early).toMatchObject({ level: 'weak', value: 'new' });
});

test('quorum: gone, and a replica that has not heard of it → still gone', async () => {
  const { isReplyExpected, final, wrote } = open({ write: 'ONE' });
  const at = await wrote('k', 'old');
  for (const rows of [[], [valueRow('k', 'old', at)]]) {
    const gone = final('k');
    await isReplyExpected('QUORUM', rows);
    await isReplyExpected('ALL', []);
    expect(await gone).toBeUndefined();
  }
});

test('strong: gone before the late answer of our own write → no weak view of it', async () => {
  const { fake, client, session, isReplyExpected, final, weak } = open();
  const writing = client.invoke(put('k', 'mine'), { session });
  const written = await fake.next();
  const gone = final('k');
  await isReplyExpected('QUORUM', []);
  expect(await gone).toBeUndefined();
  written.answer();
  await writing;
  const read = weak('k');
  await isReplyExpected('ONE', [valueRow('k', 'mine', written.options.timestamp ?? 0)]);
  await isReplyExpected('QUORUM', []);
  expect(await read).toMatchObject({ level: 'strong', value: undefined });
});

test('strong: one replica alone has shown it, and a quorum has nothing → all replicas are asked, and believed', async () => {
  const { isReplyExpected, final, weak } = open();
  const early = weak('k');
  await isReplyExpected('ONE', [valueRow('k', 'on its way', 9)]);
  expect(await early).toMatchObject({ value: 'on its way' });
  const read = final('k');
  await isReplyExpected('QUORUM', []);
  await isReplyExpected('ALL', [valueRow('k', 'on its way', 9)]);
  expect(await read).toBe('on its way');
  const gone = final('k');
  await isReplyExpected('QUORUM', []);
  expect(await gone).toBeUndefined();
});

test('strong: the same, and not all replicas can be asked → the result of the quorum', async () => {
  const { fake, client, session, isReplyExpected } = open();
  const read = client.invoke(get('k'), { session });
  await isReplyExpected('ONE', [valueRow('k', 'deleted', 9)]);
  await isReplyExpected('QUORUM', []);
  const all = await fake.next();
  expect(all.consistency).toBe('ALL');
  all.fail(new Error('a node is down'));
  expect(await read).toBeUndefined();
});
