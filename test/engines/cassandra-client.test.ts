/** One request to a real coordinator that gives preliminary replies: the bytes, and a node that fails. */
import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import driver from 'cassandra-driver';
import { SUPERUSER } from '../../engines/cassandra/cluster.ts';
import { cassandra, type CassandraDriver } from '../../src/bindings/cassandra/index.ts';
import { correctablePath, type CorrectablePath } from '../../src/bindings/cassandra/icg/correctable-path.ts';
import type { Page, ReadPath, ReadPathSettings, ReadSink } from '../../src/bindings/cassandra/read-path.ts';
import { parseAddress, type ServerAddress } from '../../src/engine-client/address.ts';
import { createClient } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { isShort, withCassandra, type TestCluster } from './support/cassandra.ts';
import { besideFrankfurt } from './support/cassandra-ways.ts';

const it = withCassandra();
const GONE: ReadPath = {
  read: (_statement, _request, sink) => sink.fail(new Error('there is no plain way here')),
  close: () => Promise.resolve(),
};

/** A sink that collects: `preliminary`, `confirm`, `final`, `fail`. */
class Views implements ReadSink {
  readonly said: string[] = [];
  readonly rows: Page['rows'][] = [];
  readonly over: Promise<void>;
  error: unknown;
  #end!: () => void;

  constructor() {
    this.over = new Promise((resolve) => (this.#end = resolve));
  }

  preliminary({ rows }: Page): void {
    this.said.push('preliminary');
    this.rows.push(rows);
  }

  preliminaryFailed(): void {
    this.said.push('preliminary failed');
  }

  confirm(): void {
    this.said.push('confirm');
    this.#end();
  }

  final({ rows }: Page): void {
    this.said.push('final');
    this.rows.push(rows);
    this.#end();
  }

  fail(error: unknown): void {
    this.said.push('fail');
    this.error = error;
    this.#end();
  }
}

const addressesOf = (points: readonly string[]): ServerAddress[] => points.map((point) => parseAddress(point, 9042)!);

async function openPath(limits: Parameters<typeof correctablePath>[2] = {}): Promise<CorrectablePath> {
  const settings = {
    contactPoints: addressesOf(it.cluster.contactPoints('frk')),
    keyspace: it.keyspace,
    credentials: undefined,
    tls: undefined,
    requestTimeoutMs: 20_000,
    plain: GONE,
  };
  const path = await correctablePath(driver as unknown as CassandraDriver, settings, limits);
  if (path === undefined) throw new Error('Frankfurt gives no preliminary replies');
  return path;
}

async function read(path: ReadPath, cql: string): Promise<Views> {
  const views = new Views();
  const statement = { cql, params: ['k'], pageSize: 100 };
  path.read(statement, { consistency: 'QUORUM', preliminary: 'ONE' }, views);
  await views.over;
  return views;
}

describe('the wire', () => {
  test('a confirmation → 25 bytes, the rows once', async () => {
    const table = `${it.keyspace}.bytes`;
    const client = it.client('frk');
    await client.execute(`CREATE TABLE ${table} (k text PRIMARY KEY, v text)`);
    const value = 'x'.repeat(1_000);
    const { all } = driver.types.consistencies;
    await client.execute(`INSERT INTO ${table} (k, v) VALUES ('k', '${value}')`, [], { consistency: all });
    const path = await openPath({ silenceMaxMs: 60_000 });
    const cql = `SELECT v FROM ${table} WHERE k = ?`;
    await read(path, cql);
    const before = path.bytes.received;
    const views = await read(path, cql);
    expect(views.said).toEqual(['preliminary', 'confirm']);
    expect(views.rows).toEqual([[{ v: value }]]);
    const received = path.bytes.received - before;
    await path.close();
    // Header 9, payload 12, kind 4; rows: flags, columns, rows, length.
    const bare = 9 + 12 + 4 + 4 + 4 + 4 + 4 + value.length;
    // Whose they are, and of which types: those may change, and nobody would be told.
    const metadata = 2 + it.keyspace.length + 2 + 'bytes'.length + 2 + 'v'.length + 2;
    expect(received).toBe(bare + metadata + 25);
  });

  test('thousands of reads at once → each its own views', async () => {
    const table = `${it.keyspace}.many`;
    const client = it.client('frk');
    await client.execute(`CREATE TABLE ${table} (k text PRIMARY KEY, v int)`);
    const keys = Array.from({ length: 50 }, (_, n) => `key ${n}`);
    const insert = `INSERT INTO ${table} (k, v) VALUES (?, ?)`;
    const { all } = driver.types.consistencies;
    await Promise.all(keys.map((key, n) => client.execute(insert, [key, n], { prepare: true, consistency: all })));
    const path = await openPath({ inFlightMax: 40 });
    const cql = `SELECT v FROM ${table} WHERE k = ?`;
    await read(path, cql);
    const reads = Array.from({ length: 3_000 }, async (_, n) => {
      const views = new Views();
      const at = n % keys.length;
      const statement = { cql, params: [keys[at]], pageSize: 100 };
      path.read(statement, { consistency: 'QUORUM', preliminary: 'ONE' }, views);
      await views.over;
      // On one machine the other replicas are as quick: an early view that would come behind the final one is left out.
      expect(['confirm', 'final']).toContain(views.said.at(-1));
      expect(views.rows).toEqual([[{ v: at }]]);
    });
    await Promise.all(reads);
    await path.close();
  });
});

test('client: the coordinator frozen, gone, and back → views all the while, then by one request again', async (context) => {
  context.skip(isShort, 'nodes have to start again: not with --short');
  const table = 'failing';
  const options = { table, createTable: true, correctable: 'require', requestTimeoutMs: 6_000 } as const;
  const binding = cassandra({ ...besideFrankfurt(it), ...options });
  await using client = createClient(binding);
  await client.invoke(put('k', 'v'));
  expect(await client.invoke(get('k'))).toBe('v');
  it.cluster.pause('frk');
  // The driver finds out by itself that the node is silent, then asks the next: both clients get over it.
  await expect.poll(() => client.invoke(get('k')).catch(String), { timeout: 60_000 }).toBe('v');
  it.cluster.resume('frk');
  await it.cluster.restart('frk');
  const path = await openPath();
  await expect
    .poll(async () => (await read(path, `SELECT value FROM ${it.keyspace}.${table} WHERE key = ?`)).said, {
      timeout: 60_000,
    })
    .toEqual(['preliminary', 'confirm']);
  expect(await client.invoke(get('k'))).toBe('v');
  await path.close();
});

describe('a cluster with TLS and users', () => {
  beforeEach((context) => context.skip(isShort, 'it starts a cluster of its own: not with --short'));

  const its = isShort ? undefined : withCassandra({ plugin: true, authentication: true, tls: true });

  test('certificate and password → reads; without one of them a typed error', async () => {
    const guarded = its as TestCluster;
    const { certificate } = guarded.cluster.access;
    const tls = { ca: readFileSync(certificate as string), rejectUnauthorized: true };
    const base = {
      contactPoints: guarded.cluster.contactPoints('frk'),
      keyspace: guarded.keyspace,
      createTable: true,
      correctable: 'require',
    } as const;
    const binding = cassandra({ ...base, credentials: SUPERUSER, tls });
    await binding.connected();
    expect(binding.requestsPerRead).toBe(1);
    const client = createClient(binding);
    await client.invoke(put('k', 'v'));
    expect(await client.invoke(get('k'))).toBe('v');
    await client.close();

    const open = (settings: ReadPathSettings): Promise<unknown> =>
      correctablePath(driver as unknown as CassandraDriver, settings);
    const contactPoints = addressesOf(base.contactPoints);
    const settings = { ...base, contactPoints, requestTimeoutMs: 10_000, plain: GONE };
    await expect(open({ ...settings, credentials: undefined, tls })).rejects.toMatchObject({ code: 'AUTHENTICATION' });
    const stranger = { username: 'cassandra', password: 'wrong' };
    await expect(open({ ...settings, credentials: stranger, tls })).rejects.toMatchObject({ code: 'AUTHENTICATION' });
    await expect(open({ ...settings, credentials: SUPERUSER, tls: {} })).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
    });
  });
});
