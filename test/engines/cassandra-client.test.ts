/**
 * One request to a real coordinator that gives preliminary replies: the bytes, and a node that
 * fails.
 */
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import driver from 'cassandra-driver';
import { SUPERUSER } from '../../engines/cassandra/cluster.ts';
import { cassandra, type CassandraDriver } from '../../src/bindings/cassandra/index.ts';
import {
  openPluginReads,
  type PluginReadStrategy,
} from '../../src/research/cassandra-icg/plugin-reads.ts';
import type { ReadStrategy } from '../../src/bindings/cassandra/read-strategy.ts';
import { parseAddress, type ServerAddress } from '../../src/bindings/shared/server-address.ts';
import { createClient } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { preliminaryReplies } from '../../src/research/cassandra-icg/index.ts';
import { Heard } from '../unit/research/cassandra-icg/reads.ts';
import { isShort, withCassandra, type TestCluster } from './support/cassandra.ts';
import { besideFrankfurt } from './support/cassandra-read-strategies.ts';

const it = withCassandra();
const GONE: ReadStrategy = {
  read: (_statement, _request, sink) => sink.fail(new Error('there is no plain way here')),
  close: () => Promise.resolve(),
};

const addressesOf = (points: readonly string[]): ServerAddress[] =>
  points.map((point) => parseAddress(point, 9042)!);

async function openPath(
  limits: Parameters<typeof openPluginReads>[2] = {},
): Promise<PluginReadStrategy> {
  const settings = {
    contactPoints: addressesOf(it.cluster.contactPoints('frankfurt')),
    keyspace: it.keyspace,
    credentials: undefined,
    tls: undefined,
    requestTimeoutMs: 20_000,
    driverReads: GONE,
  };
  const path = await openPluginReads(driver as unknown as CassandraDriver, settings, limits);
  if (path === undefined) throw new Error('Frankfurt gives no preliminary replies');
  return path;
}

async function read(path: ReadStrategy, cql: string): Promise<readonly string[]> {
  const heard = new Heard();
  path.read(
    { cql, params: ['k'], pageSize: 100 },
    { consistency: 'QUORUM', preliminaryConsistency: 'ONE' },
    heard,
  );
  return heard.over;
}

describe('the wire', () => {
  test('a confirmation → 25 bytes, the rows once', async () => {
    const table = `${it.keyspace}.bytes`;
    const client = it.client('frankfurt');
    await client.execute(`CREATE TABLE ${table} (k text PRIMARY KEY, v text)`);
    const value = 'x'.repeat(1_000);
    const { all } = driver.types.consistencies;
    await client.execute(`INSERT INTO ${table} (k, v) VALUES ('k', '${value}')`, [], {
      consistency: all,
    });
    const path = await openPath({ maxSilenceMs: 60_000 });
    const cql = `SELECT v FROM ${table} WHERE k = ?`;
    await read(path, cql);
    const before = path.bytes.received;
    expect(await read(path, cql)).toEqual([`preliminary ${value}`, 'confirm']);
    const received = path.bytes.received - before;
    await path.close();
    // Header 9, payload 12, kind 4; rows: flags, columns, rows, length.
    const bare = 9 + 12 + 4 + 4 + 4 + 4 + 4 + value.length;
    // The size of keyspace, table and types: those may change unnoticed.
    const metadata = 2 + it.keyspace.length + 2 + 'bytes'.length + 2 + 'v'.length + 2;
    expect(received).toBe(bare + metadata + 25);
  });
});

test('client: the coordinator frozen, gone, and back → views all the while, then by one request again', async (context) => {
  context.skip(isShort, 'nodes have to start again: not with --short');
  const table = 'failing';
  const replies = preliminaryReplies({ required: true });
  const options = {
    table,
    createTable: true,
    preliminaryReplies: replies,
    requestTimeoutMs: 6_000,
  } as const;
  const binding = cassandra({ ...besideFrankfurt(it), ...options });
  await using client = createClient(binding);
  await client.invoke(put('k', 'v'));
  expect(await client.invoke(get('k'))).toBe('v');
  it.cluster.pause('frankfurt');
  // The driver finds out by itself that the node is silent, then asks the next: both clients get
  // over it.
  await expect.poll(() => client.invoke(get('k')).catch(String), { timeout: 60_000 }).toBe('v');
  it.cluster.resume('frankfurt');
  await it.cluster.restart('frankfurt');
  const path = await openPath();
  await expect
    .poll(
      async () => await read(path, `SELECT value AS v FROM ${it.keyspace}.${table} WHERE key = ?`),
      {
        timeout: 60_000,
      },
    )
    .toEqual(['preliminary "v"', 'confirm']);
  expect(await client.invoke(get('k'))).toBe('v');
  await path.close();
});

describe('a cluster with TLS and users', () => {
  beforeEach((context) =>
    context.skip(isShort, 'it starts a cluster of its own: not with --short'),
  );

  const its = isShort
    ? undefined
    : withCassandra({ plugin: true, authentication: true, tls: true });

  test('certificate and password → reads by one request', async () => {
    const guarded = its as TestCluster;
    const { certificate } = guarded.cluster.access;
    const tls = { ca: readFileSync(certificate as string), rejectUnauthorized: true };
    const base = {
      contactPoints: guarded.cluster.contactPoints('frankfurt'),
      keyspace: guarded.keyspace,
      createTable: true,
      preliminaryReplies: preliminaryReplies({ required: true }),
    } as const;
    const binding = cassandra({ ...base, credentials: SUPERUSER, tls });
    await binding.whenConnected();
    expect(binding.requestsPerRead).toBe(1);
    const client = createClient(binding);
    await client.invoke(put('k', 'v'));
    expect(await client.invoke(get('k'))).toBe('v');
    await client.close();
  });
});
