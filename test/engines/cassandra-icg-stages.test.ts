/**
 * Which threads of a coordinator make preliminaries. Under load, where it is no replica itself: not
 * those that count the answers of other nodes, which every read and write waits for.
 */
// @rule ICG-8
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import cassandra from 'cassandra-driver';
import { counters, define } from './support/icg.ts';
import { RawCql } from './support/raw-cql.ts';
import { threadSample } from './support/thread-sample.ts';
import { withCassandra } from './support/cassandra.ts';

const on = withCassandra();
const ALL: number = cassandra.types.consistencies.all;

/**
 * One replica in Frankfurt or Ireland, one in Virginia: Frankfurt coordinates half of the keys
 * without a copy.
 */
const FAR = `{'class': 'NetworkTopologyStrategy', 'eu': 1, 'us': 1}`;
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** So many that a result takes milliseconds to make. */
const ROWS = 1_500;
const READERS = 16;
/** A stage must have been seen at least so often. */
const SEEN_MIN = 5;
const SAMPLES_MAX = 300;
const PAUSE_MS = 30;
/** In the stack of a thread that evaluates a statement on a replica's data. */
const EVALUATES = 'org.correctables.cassandra.ObservedSelect.rowsOf';
/** A coordinator that waits for replies makes its preliminary reply of what it has read itself. */
const COORDINATES = /^Native-Transport-Requests/;

const clients: RawCql[] = [];
const table = (): string => `${on.keyspace}_stages.wide`;

beforeAll(async () => {
  if (!on.isThere) return;
  for (let n = 0; n < READERS; n += 1)
    clients.push(await RawCql.connect(on.cluster.address('frankfurt')));
  await define(
    clients[0] as RawCql,
    `CREATE KEYSPACE ${on.keyspace}_stages WITH replication = ${FAR}`,
    `CREATE TABLE ${table()} (k text, c int, v text, w text, PRIMARY KEY (k, c))`,
  );
  const query = `INSERT INTO ${table()} (k, c, v, w) VALUES (?, ?, ?, ?)`;
  for (const key of KEYS) {
    const rows = Array.from({ length: ROWS }, (_, c) => ({
      query,
      params: [key, c, `value ${c}`, 'w'.repeat(20)],
    }));
    for (let from = 0; from < ROWS; from += 250) {
      const some = rows.slice(from, from + 250);
      await on.client('frankfurt').batch(some, { prepare: true, logged: false, consistency: ALL });
    }
  }
});
afterAll(async () => await Promise.all(clients.map((client) => client[Symbol.asyncDispose]())));

test('a coordinator that is no replica, under load → preliminaries are made by threads of their own', async () => {
  const [first] = clients as [RawCql];
  const before = await counters(first);
  const ends = new AbortController();
  const reads = clients.map(async (client, reader) => {
    for (let n = reader; !ends.signal.aborted; n += 1) {
      const query = `SELECT JSON * FROM ${table()} WHERE k = '${KEYS[n % KEYS.length]}'`;
      const answers = await client.query(query, { consistency: 'all', icg: 1 });
      // A replica that is late for the final reply is left out; one that comes first has all rows.
      expect([[1, 2], [undefined]]).toContainEqual(answers.map(({ icg }) => icg));
      expect(answers[0]?.rows).toHaveLength(ROWS);
    }
  });
  const busy: string[] = [];
  try {
    for (let n = 0; n < SAMPLES_MAX && busy.length < SEEN_MIN; n += 1) {
      await sleep(PAUSE_MS);
      const threads = await threadSample(on.cluster, 'frankfurt');
      const evaluating = threads.filter(
        ({ name, stack }) => stack.includes(EVALUATES) && !COORDINATES.test(name),
      );
      busy.push(...evaluating.map(({ name }) => name));
    }
  } finally {
    ends.abort();
    await Promise.all(reads);
  }
  expect([...new Set(busy.map((name) => name.replace(/-[\d-]+$/, '')))]).toEqual([
    'correctables-preliminary',
  ]);
  const after = await counters(first);
  expect(after['Preliminaries']).toBeGreaterThan(before['Preliminaries'] ?? 0);
  expect(after['Broken']).toBe(before['Broken']);
});
