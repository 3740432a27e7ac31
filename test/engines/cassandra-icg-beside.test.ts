/**
 * Beside Correctable Cassandra: servers that are plain, by choice or by version, and shells that
 * know nothing of it.
 */
// @rule ICG-11
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { Cluster, type ClusterOptions } from '../../engines/cassandra/cluster.ts';
import { cqlsh } from './support/cqlsh.ts';
import { isShort, withCassandraTools, type TestCluster } from './support/cassandra.ts';
import { codes, read, withOwnCassandra } from './support/icg.ts';
import { RawCql } from './support/raw-cql.ts';

const folder = mkdtempSync(join(tmpdir(), 'correctables-icg-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function addressOf(on: TestCluster | undefined): string {
  return on?.cluster.address('frankfurt') ?? '';
}

/** Answers of a server that is to be plain: to OPTIONS, and to one who asks all the same. */
async function askPlain(address: string): Promise<void> {
  await using client = await RawCql.connect(address);
  expect(await client.options()).not.toHaveProperty('CORRECTABLES_ICG');
  const query = `SELECT cluster_name FROM system.local WHERE key = 'local'`;
  const [plain] = await client.query(query);
  const answers = await client.query(query, { icg: 1 });
  expect(codes(answers)).toEqual([undefined]);
  expect(answers[0]?.body).toEqual(plain?.body);
  const keyspaces = read(
    await client.run('SELECT keyspace_name FROM system_virtual_schema.keyspaces'),
  ).flat();
  expect(keyspaces).toContain('system_views');
  expect(keyspaces).not.toContain('system_correctables');
}

describe('a server without the plugin', () => {
  const on = withOwnCassandra({ nodes: 1, plugin: false });

  test('asked → not offered, one normal answer', async () => {
    await askPlain(addressOf(on));
  });
});

describe('a server with the plugin', () => {
  const on = withOwnCassandra({ nodes: 1, plugin: true });

  test('one replica → nothing to tell before the final: one normal answer', async () => {
    await using client = await RawCql.connect(addressOf(on));
    await client.run(`CREATE TABLE ${on?.keyspace}.kv (k text PRIMARY KEY, v text)`);
    const answers = await client.query(`SELECT v FROM ${on?.keyspace}.kv WHERE k = 'a'`, {
      consistency: 'all',
      icg: 1,
    });
    expect(answers.map(({ icg, kind }) => [icg, kind])).toEqual([[undefined, 'rows']]);
  });

  test('cqlsh → reads, writes, and the counters', async (context) => {
    const shell = await cqlsh();
    if (typeof shell !== 'function') return context.skip(shell.missing);
    const address = addressOf(on);
    const table = `${on?.keyspace}.shell`;
    await shell(address, `CREATE TABLE ${table} (k text PRIMARY KEY, v text)`);
    await shell(address, `INSERT INTO ${table} (k, v) VALUES ('a', 'from the shell')`);
    expect(await shell(address, `CONSISTENCY ALL; SELECT v FROM ${table} WHERE k = 'a'`)).toContain(
      'from the shell',
    );
    const counters = await shell(address, 'SELECT * FROM system_correctables.icg');
    expect(counters).toMatch(/Preliminaries \|\s+0/);
    expect(await shell(address, `DESCRIBE TABLE ${table}`)).toContain('CREATE TABLE');
  });
});

describe('starting', () => {
  withCassandraTools();
  beforeEach((context) =>
    context.skip(isShort, 'it starts a cluster of its own: not with --short'),
  );

  const options = (name: string, javaFlags: readonly string[]): ClusterOptions => {
    const how = { nodes: 1, wan: 'none', plugin: true, fast: true } as const;
    return { ...how, folder: join(folder, name), progress: () => {}, javaFlags };
  };
  const logOf = (name: string): string => readFileSync(join(folder, name, 'frankfurt.log'), 'utf8');

  test('a version that it does not know → plain Cassandra, and the log has the cause', async () => {
    const version = join(folder, 'version', 'org', 'apache', 'cassandra', 'config');
    mkdirSync(version, { recursive: true });
    writeFileSync(join(version, 'version.properties'), 'CassandraVersion=5.0.99\n');
    const flags = [`-Xbootclasspath/a:${join(folder, 'version')}`];
    await using cluster = await Cluster.start(options('unknown', flags));
    await askPlain(cluster.address('frankfurt'));
    expect(logOf('unknown')).toContain(
      'stays off: it is for Cassandra [5.0.7, 5.0.8, 5.0.9], this is 5.0.99',
    );
  });

  test('Cassandra 5.0.6, which it was not tested with → plain Cassandra, and the log has the cause', async () => {
    await using cluster = await Cluster.start({ ...options('5.0.6', []), version: '5.0.6' });
    await askPlain(cluster.address('frankfurt'));
    expect(logOf('5.0.6')).toContain('this is 5.0.6. The server is plain Cassandra.');
  });

  // All of the plugin's tests with another release: CASSANDRA_VERSION=5.0.8 npm run test:engines --
  // cassandra-icg
  test.each(['5.0.7', '5.0.8'])(
    'Cassandra %s, which it was tested with → offered, and on',
    async (version) => {
      await using cluster = await Cluster.start({ ...options(version, []), version });
      await using client = await RawCql.connect(cluster.address('frankfurt'));
      expect((await client.options())['CORRECTABLES_ICG']).toEqual(['1']);
      expect(logOf(version)).toContain(`is on (Cassandra ${version})`);
    },
  );

  test('invalid delays → the node does not start, and the log shows their format', async () => {
    const started = Cluster.start(options('delays', ['-Dcorrectables.delay=127.0.0.2']));
    await expect(started).rejects.toThrow('ended');
    expect(logOf('delays')).toContain('-Dcorrectables.delay takes address:oneWayMs');
  });
});
