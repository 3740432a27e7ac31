/**
 * The commit of a transaction on ZooKeeper: all its reads still hold and all its writes apply, or
 * nothing does.
 */
import { describe, expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { commit, get, put, type CommitArgs } from '../../../../../src/operations/index.ts';
import { transaction } from '../../../../../src/transactions/index.ts';
import { outcomeOf } from '../set-up.ts';
import { countRequests, onFirst, setUp, toNode, toWrites, type Setting } from './set-up.ts';

const COMMITTED = { committed: true, changed: [] };
const isMulti = ({ type }: { readonly type: number }): boolean => type === OP.multi;

async function readVersion({ read }: Setting, key: string): Promise<string | number> {
  const [found] = await read(key);
  return found!.version;
}

describe('reads', () => {
  test('unchanged, written and only read → committed', async () => {
    const setting = await setUp();
    const { client } = setting;
    await client.invoke(put('a', 1));
    await client.invoke(put('b', 1));
    const [a, b] = [await readVersion(setting, 'a'), await readVersion(setting, 'b')];
    expect(
      await setting.commit(
        [
          ['a', a],
          ['b', b],
        ],
        { a: 2 },
      ),
    ).toEqual(COMMITTED);
    expect(await client.invokeStrong(get('a'))).toBe(2);
    expect(await readVersion(setting, 'b')).toBe(b);
    expect(
      await setting.commit(
        [
          ['a', a],
          ['b', b],
        ],
        { a: 3 },
      ),
    ).toEqual({ committed: false, changed: ['a'] });
  });

  test('some changed → nothing is written, and exactly those are named', async () => {
    const setting = await setUp();
    const { client, read } = setting;
    for (const key of ['a', 'b', 'c']) await client.invoke(put(key, 1));
    const before = await read('a', 'b', 'c', 'd');
    for (const key of ['a', 'c', 'd']) await client.invoke(put(key, 2));
    const reads = ['a', 'b', 'c', 'd'].map((key, at): [string, string | number] => [
      key,
      before[at]!.version,
    ]);
    expect(await setting.commit(reads, { b: 9 })).toEqual({
      committed: false,
      changed: ['a', 'c', 'd'],
    });
    expect(await client.invokeStrong(get('b'))).toBe(1);
  });

  test('one changed when the commit arrives → refused by the ensemble', async () => {
    const setting = await setUp();
    await setting.client.invoke(put('a', 1));
    const version = await readVersion(setting, 'a');
    onFirst(setting, isMulti, () => setting.writeBetween({ type: OP.setData, path: toNode('a') }));
    expect(await setting.commit([['a', version]], { b: 1 })).toEqual({
      committed: false,
      changed: ['a'],
    });
    expect(await setting.client.invokeStrong(get('b'))).toBeUndefined();
  });

  test('one that changed and is as before by now → named all the same', async () => {
    const setting = await setUp();
    await setting.client.invoke(put('b', 1));
    const absent = await readVersion(setting, 'a');
    onFirst(setting, isMulti, () => setting.writeBetween({ type: OP.create, path: toNode('a') }));
    const { onRequest } = setting.ensemble.server;
    setting.ensemble.server.onRequest = (seen) => {
      const isLook = seen.type === OP.exists && setting.ensemble.leader.tree.nodes.has(toNode('a'));
      if (isLook) setting.writeBetween({ type: OP.delete, path: toNode('a') });
      return onRequest?.(seen);
    };
    expect(await setting.commit([['a', absent]], { a: 1 })).toEqual({
      committed: false,
      changed: ['a'],
    });
  });
});

describe('absent keys', () => {
  test('read and written by two clients → exactly one commits', async () => {
    const setting = await setUp();
    const absent = await readVersion(setting, 'a');
    const racing = [1, 2].map((value) => setting.commit([['a', absent]], { a: value }));
    const results = await Promise.all(racing);
    expect(results.toSorted((x, y) => Number(y.committed) - Number(x.committed))).toEqual([
      COMMITTED,
      { committed: false, changed: ['a'] },
    ]);
  });

  test('only read → committed, and the key is still absent', async () => {
    const setting = await setUp();
    const absent = await readVersion(setting, 'a');
    expect(await setting.commit([['a', absent]], { b: 1 })).toEqual(COMMITTED);
    expect(setting.ensemble.children('/correctables/keys')).toEqual(['b']);
    expect(await readVersion(setting, 'a')).toBe(absent);
  });

  test('only read, and created meanwhile → refused', async () => {
    const setting = await setUp();
    const absent = await readVersion(setting, 'a');
    await setting.client.invoke(put('a', 1));
    expect(await setting.commit([['a', absent]], { b: 1 })).toEqual({
      committed: false,
      changed: ['a'],
    });
    expect(await setting.client.invokeStrong(get('a'))).toBe(1);
  });
});

describe('writes without reads', () => {
  test('of present and absent keys → written', async () => {
    const { client, commit: send } = await setUp();
    await client.invoke(put('a', 1));
    expect(await send([], { a: 2, b: 2 })).toEqual(COMMITTED);
    expect([await client.invokeStrong(get('a')), await client.invokeStrong(get('b'))]).toEqual([
      2, 2,
    ]);
  });

  test.each([
    ['created', OP.create],
    ['deleted', OP.delete],
  ])('of a key that is %s before the commit arrives → written, once', async (_, type) => {
    const setting = await setUp();
    await setting.client.invoke(put(type === OP.create ? 'b' : 'a', 1));
    onFirst(setting, isMulti, () => setting.writeBetween({ type, path: toNode('a') }));
    expect(await setting.commit([], { a: 2 })).toEqual(COMMITTED);
    expect(await setting.client.invokeStrong(get('a'))).toBe(2);
    expect(setting.ensemble.leader.tree.nodes.get(toNode('a'))?.version).toBe(
      type === OP.create ? 1 : 0,
    );
  });

  test('the reader’s server does not answer → written', async () => {
    const setting = await setUp();
    setting.ensemble.server.onRequest = ({ session }) =>
      session === setting.readerSession ? { until: new Promise(() => {}) } : undefined;
    expect(await setting.commit([], { a: 1 })).toEqual(COMMITTED);
  });
});

describe('no writes', () => {
  test('unchanged and changed reads → certified in the ensemble’s order', async () => {
    const setting = await setUp();
    await setting.client.invoke(put('a', 1));
    const version = await readVersion(setting, 'a');
    expect(await setting.commit([['a', version]], {})).toEqual(COMMITTED);
    await setting.client.invoke(put('a', 2));
    expect(await setting.commit([['a', version]], {})).toEqual({
      committed: false,
      changed: ['a'],
    });
  });

  test('the answer is lost → sent again', async () => {
    const setting = await setUp();
    await setting.client.invoke(put('a', 1));
    const version = await readVersion(setting, 'a');
    onFirst(setting, isMulti, () => ({ cut: 'after' }));
    expect(await setting.commit([['a', version]], {})).toEqual(COMMITTED);
  });

  test('nothing read either → committed, and nothing is sent', async () => {
    const setting = await setUp();
    expect(await setting.commit([], {})).toEqual(COMMITTED);
    expect(countRequests(setting, OP.multi)).toBe(0);
  });
});

describe('a lost connection', () => {
  test.each(['before', 'after'] as const)(
    '%s the commit takes effect → UNKNOWN, and never sent again',
    async (cut) => {
      const setting = await setUp();
      const { client } = setting;
      await client.invoke(put('a', 1));
      const version = await readVersion(setting, 'a');
      onFirst(setting, isMulti, () => ({ cut }));
      expect(await outcomeOf(setting.commit([['a', version]], { a: 2 }))).toBe('UNKNOWN');
      expect(await client.invokeStrong(get('a'))).toBe(cut === 'before' ? 1 : 2);
      expect(countRequests(setting, OP.multi)).toBe(1);
    },
  );

  test('a transaction whose commit is undecided → UNKNOWN, and its function runs once', async () => {
    const setting = await setUp();
    await setting.client.invoke(put('b', 1));
    onFirst(setting, isMulti, () => ({ cut: 'after' }));
    let runs = 0;
    const counting = transaction(setting.client, async (tx) => {
      runs += 1;
      tx.put('a', ((await tx.get<number>('a')) ?? 0) + 1);
    });
    expect(await outcomeOf(counting)).toBe('UNKNOWN');
    expect([runs, await setting.client.invokeStrong(get('a'))]).toEqual([1, 1]);
  });
});

describe('a caller that gives up', () => {
  /** Cuts all connections, and admits no other one until the returned function is called. */
  async function disconnect({ ensemble: { server } }: Setting): Promise<() => void> {
    server.connectionsMax = 0;
    server.cut();
    await expect.poll(() => server.refusals).toBeGreaterThan(1);
    return () => (server.connectionsMax = Infinity);
  }

  /** Holds the answers about nodes back until the returned function is called. */
  function holdLooks({ ensemble: { server } }: Setting): () => void {
    let release!: () => void;
    const until = new Promise<void>((resolve) => (release = resolve));
    server.onRequest = ({ type }) => (type === OP.exists ? { until } : undefined);
    return release;
  }

  async function expectNeverSent(setting: Setting): Promise<void> {
    await setting.client.invoke(put('b', 1));
    expect(await setting.client.invokeStrong(get('a'))).toBeUndefined();
    expect(countRequests(setting, OP.multi)).toBe(0);
  }

  test.each([
    ['cancels', {}, 'ABORTED'],
    ['has no time left', { timeoutMs: 20 }, 'UNAVAILABLE'],
  ])('%s while no server can be reached → not sent, now or later', async (_, options, code) => {
    const setting = await setUp();
    const reconnect = await disconnect(setting);
    const committing = setting.client.invoke(commit([], toWrites({ a: 1 })), options);
    if (code === 'ABORTED') committing.cancel();
    await expect(committing).rejects.toMatchObject({ code });
    reconnect();
    await expectNeverSent(setting);
  });

  test('cancels while a server looks up the nodes → UNKNOWN, and it takes effect', async () => {
    const setting = await setUp();
    const release = holdLooks(setting);
    const committing = setting.client.invoke(commit([], toWrites({ a: 1 })));
    await expect.poll(() => countRequests(setting, OP.exists)).toBeGreaterThan(0);
    committing.cancel();
    expect(await outcomeOf(committing)).toBe('UNKNOWN');
    release();
    await expect.poll(() => setting.client.invokeStrong(get('a'))).toBe(1);
  });

  test('cancels before the connection is lost → UNKNOWN, and it does not come back later', async () => {
    const setting = await setUp();
    const release = holdLooks(setting);
    const committing = setting.client.invoke(commit([], toWrites({ a: 1 })));
    await expect.poll(() => countRequests(setting, OP.exists)).toBeGreaterThan(0);
    committing.cancel();
    expect(await outcomeOf(committing)).toBe('UNKNOWN');
    const reconnect = await disconnect(setting);
    setting.ensemble.server.onRequest = undefined;
    release();
    reconnect();
    await expectNeverSent(setting);
  });
});

describe('the weak view', () => {
  test('of a commit → the check at the near server, then the outcome', async () => {
    const setting = await setUp();
    await setting.client.invoke(put('a', 1));
    const version = await readVersion(setting, 'a');
    const views: unknown[] = [];
    const committing = setting.client.invoke(commit([{ key: 'a', version }], toWrites({ a: 2 })));
    for await (const { level, value } of committing) views.push([level, value.committed]);
    expect(views).toEqual([
      ['weak', true],
      ['strong', true],
    ]);
  });

  test('alone → the commit takes effect all the same', async () => {
    const { client } = await setUp();
    expect(await client.invokeWeak(commit([], toWrites({ a: 1 })))).toEqual(COMMITTED);
    await expect.poll(() => client.invokeStrong(get('a'))).toBe(1);
  });

  test('fails, alone → the outcome answers in its place', async () => {
    const setting = await setUp();
    setting.ensemble.server.onRequest = ({ session }) =>
      session === setting.readerSession ? { error: -127 } : undefined;
    const committing = setting.client.invokeWeak(commit([], toWrites({ a: 1 })));
    expect([await committing, committing.latest?.level]).toEqual([COMMITTED, 'strong']);
  });

  test('fails or stays away → the commit does not', async () => {
    const setting = await setUp();
    const absent = await readVersion(setting, 'a');
    const faults = [{ error: -127 }, { until: new Promise(() => {}) }];
    setting.ensemble.server.onRequest = ({ session }) =>
      session === setting.readerSession ? faults.shift() : undefined;
    const reads = [{ key: 'a', version: absent }];
    expect(await setting.client.invoke(commit(reads, []))).toEqual(COMMITTED);
    expect(await setting.client.invoke(commit(reads, []))).toEqual(COMMITTED);
  });
});

describe('a commit that cannot be', () => {
  test('too large for one request → INVALID_ARGUMENT with both sizes, nothing is sent', async () => {
    const setting = await setUp();
    const value = 'x'.repeat(600_000);
    const failed = setting.client.invoke(commit([], toWrites({ a: value, b: value })));
    await expect(failed).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field: 'writes',
      message: expect.stringMatching(/takes 12\d{5} bytes, .* at most 1000000 \(jute\.maxbuffer\)/),
    });
    expect(countRequests(setting, OP.multi)).toBe(0);
  });

  test('as large as one request can be → written', async () => {
    const setting = await setUp();
    expect(await setting.commit([], { a: 'x'.repeat(999_800) })).toEqual(COMMITTED);
  });

  test.each([
    [{ reads: [{ key: 'a', version: 7 }], writes: [] }, 'reads[0].version'],
    [
      {
        reads: [
          { key: 'a', version: '1:0' },
          { key: 'a', version: '2:1' },
        ],
        writes: [],
      },
      'reads[1].version',
    ],
    [{ reads: [{ key: '', version: '1:0' }], writes: [] }, 'reads[0].key'],
    [{ reads: [null], writes: [] }, 'reads[0].key'],
    [{ reads: [], writes: [null] }, 'writes[0].key'],
    [null, 'args'],
    [{ reads: [], writes: 'a' }, 'writes'],
  ])('args %j → INVALID_ARGUMENT that names %s', async (args, field) => {
    const { client } = await setUp();
    const operation = { ...commit([], []), args: args as unknown as CommitArgs };
    await expect(client.invoke(operation)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      field,
    });
  });
});

test('transactions on one key, all at once → each commits, and none is lost', async () => {
  const { client } = await setUp();
  const increments = Array.from({ length: 6 }, () =>
    transaction(
      client,
      async (tx) => {
        const count = (await tx.get<number>('count')) ?? 0;
        tx.put('count', count + 1);
        return count + 1;
      },
      { maxAttempts: 100 },
    ),
  );
  expect((await Promise.all(increments)).toSorted((x, y) => x - y)).toEqual([1, 2, 3, 4, 5, 6]);
});
