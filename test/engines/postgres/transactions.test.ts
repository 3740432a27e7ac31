/**
 * Transactions on a real primary and its replicas: its locks, its versions, and what one trip
 * takes.
 */
import { beforeAll, expect, test } from 'vitest';
import { migrations } from '../../../src/bindings/postgres/index.ts';
import {
  commit,
  get,
  put,
  readVersions,
  remove,
  type VersionedRead,
} from '../../../src/operations/index.ts';
import { transaction } from '../../../src/transactions/index.ts';
import { collectFailure } from '../../conformance/collect-failures.ts';
import { medianMs } from '../support/median.ts';
import {
  openBinding,
  openForTest,
  poolForTest,
  prepareTables,
  untilAllCaughtUp,
  type OpenedPostgres,
} from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres({ wan: 'paper' });
const ROUND_TRIP_MS = 83;

beforeAll(() => prepareTables(it.servers));

async function readAll({ client }: OpenedPostgres, ...keys: string[]): Promise<VersionedRead[]> {
  const found = await client.invokeStrong(readVersions(keys));
  return keys.map((key, at) => ({ key, version: found[at]!.version }));
}

test('a transaction shows its result at a replica, and commits in one trip', async () => {
  const { client } = openForTest(it.servers);
  await client.invoke(put('from', 25));
  await untilAllCaughtUp(it.servers);
  const transfer = () =>
    transaction(client, async (tx) => {
      const [from = 0, to = 0] = await tx.getMany<number>(['from', 'to']);
      tx.put('from', from - 1);
      tx.put('to', to + 1);
      return from - 1;
    });
  const views: unknown[] = [];
  for await (const { level, value } of transfer()) views.push([level, value]);
  expect(views).toEqual([
    ['replica', 24],
    ['primary', 24],
  ]);
  const once = async (): Promise<number> => {
    await untilAllCaughtUp(it.servers);
    const from = performance.now();
    await transfer();
    return performance.now() - from;
  };
  const took: number[] = [];
  for (let run = 0; run < 5; run += 1) took.push(await once());
  expect(took.toSorted((a, b) => a - b)[2]).toBeLessThan(1.8 * ROUND_TRIP_MS);
  expect(
    await medianMs(3, async () => await client.invoke(commit([], [{ key: 'x', value: 1 }]))),
  ).toBeLessThan(1.8 * ROUND_TRIP_MS);
});

test('a stale replica shows a result that the primary corrects', async () => {
  const { client } = openForTest(it.servers);
  await client.invoke(put('stale', 1));
  await untilAllCaughtUp(it.servers);
  const names = it.servers.replicas.map(({ name }) => name);
  for (const name of names) await it.servers.pauseReplay(name);
  try {
    await client.invoke(put('stale', 10));
    const views: unknown[] = [];
    const adding = transaction(client, async (tx) => {
      const next = ((await tx.get<number>('stale')) ?? 0) + 1;
      tx.put('stale', next);
      return next;
    });
    for await (const { level, value } of adding) views.push([level, value]);
    expect(views).toEqual([
      ['replica', 2],
      ['primary', 11],
    ]);
  } finally {
    for (const name of names) await it.servers.resumeReplay(name);
  }
});

test('any statement that writes a row changes its version', async () => {
  const opened = openForTest(it.servers);
  await opened.client.invoke(put('any', 1));
  const before = await readAll(opened, 'any');
  await it.servers.query('primary', "update correctables_values set value = '1' where key = 'any'");
  const refused = await opened.client.invokeStrong(commit(before, [{ key: 'any', value: 2 }]));
  expect(refused).toEqual({ committed: false, changed: ['any'] });
  const again = await readAll(opened, 'any');
  await opened.client.invoke(remove('any'));
  expect(await opened.client.invokeStrong(commit(again, []))).toEqual({
    committed: false,
    changed: ['any'],
  });
});

test('keys without a value that are only read are certified, and stay without one', async () => {
  const opened = openForTest(it.servers);
  const reads = await readAll(opened, 'absent');
  const write = [{ key: 'beside', value: 1 }];
  expect(await opened.client.invokeStrong(commit(reads, write))).toEqual({
    committed: true,
    changed: [],
  });
  expect(await opened.client.invokeStrong(get('absent'))).toBeUndefined();
  await opened.client.invoke(put('absent', 1));
  const refused = await opened.client.invokeStrong(commit(reads, [{ key: 'beside', value: 2 }]));
  expect(refused).toEqual({ committed: false, changed: ['absent'] });
  expect(await opened.client.invokeStrong(get('beside'))).toBe(1);
});

test.each([
  ['a key that was read', 'held'],
  ['a key without a value that was read', 'held-absent'],
])('until a commit ends, no other client writes %s', async (_, key) => {
  const opened = openForTest(it.servers);
  await opened.client.invoke(put('held', 1));
  const reads = await readAll(opened, key);
  const [pool, other] = [
    poolForTest(it.servers, 'primary'),
    poolForTest(it.servers, 'primary', { max: 1 }),
  ];
  const holder = await pool.connect();
  try {
    await holder.query('begin');
    const text = 'select correctables_commit($1, $2, $3, $4) as changed';
    const values = [
      reads.map((read) => read.key),
      reads.map(({ version }) => version),
      ['other'],
      ['1'],
    ];
    const { rows } = await holder.query(text, values);
    expect(rows).toEqual([{ changed: [] }]);
    await other.query("set lock_timeout = '200ms'");
    const insert = `insert into correctables_values values ('${key}', '2') on conflict (key) do update set value = '2'`;
    await expect(other.query(insert)).rejects.toMatchObject({ code: '55P03' });
    await holder.query('commit');
    await other.query(insert);
  } finally {
    holder.release();
  }
});

test('several processes add to one counter, and to a key that is not there → none is lost', async () => {
  const processes = [openForTest(it.servers), openForTest(it.servers), openForTest(it.servers)];
  const ADDITIONS = 8;
  const add = ({ client }: OpenedPostgres): PromiseLike<unknown> =>
    transaction(
      client,
      async (tx) => tx.put('counter', ((await tx.get<number>('counter')) ?? 0) + 1),
      {
        maxAttempts: 100,
      },
    );
  await Promise.all(
    processes.map(async (opened) => {
      for (let n = 0; n < ADDITIONS; n += 1) await add(opened);
    }),
  );
  expect(await processes[0]!.client.invokeStrong(get('counter'))).toBe(3 * ADDITIONS);
});

/** The function of a store that forgets to check versions. */
const UNCHECKED = `create or replace function unchecked.correctables_commit(
  read_keys text[], read_versions text[], write_keys text[], write_values text[]
) returns text[] language sql as $$
  insert into unchecked.correctables_values select * from unnest(write_keys, write_values::jsonb[])
  on conflict (key) do update set value = excluded.value;
  select '{}'::text[];
$$;`;

test('a store that does not check versions fails the conformance suite', async () => {
  await it.servers.query('primary', 'create schema unchecked');
  await it.servers.query('primary', migrations({ schema: 'unchecked' }));
  await it.servers.query('primary', UNCHECKED);
  await untilAllCaughtUp(it.servers);
  const subject = {
    name: 'unchecked',
    async createBinding() {
      await it.servers.query('primary', 'delete from unchecked.correctables_values');
      await untilAllCaughtUp(it.servers);
      return { binding: openBinding(it.servers, { schema: 'unchecked' }) };
    },
    write: put('k', 1),
    read: get('k'),
    expected: 1,
  };
  const titles = [
    'transaction: versions out of date → refused with the keys, nothing written',
    'transaction: several commits of one version at once → one is committed',
    'transaction: concurrent additions → none is lost',
  ];
  const failures = [];
  for (const title of titles) failures.push(String(await collectFailure(subject, title)));
  expect(failures[0]).toContain('commit with a version of "a" that is out of date');
  expect(failures[1]).toContain('were committed, not 1');
  expect(failures[2]).toContain('additions that were committed');
});
