/**
 * Starting and stopping Cassandra by command line and by program: what is asked of the machine, and
 * what goes wrong.
 */
import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import cassandra from 'cassandra-driver';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { clientOf } from '../../engines/cassandra/ask.ts';
import {
  Cluster,
  requireTools,
  type ClusterOptions,
  type ClusterState,
} from '../../engines/cassandra/cluster.ts';
import { useCluster } from '../../engines/cassandra/engine.ts';
import { EngineUnavailable } from '../../engines/engine.ts';
import { layOut } from '../../engines/cassandra/layout.ts';
import { stopLeftovers, stopRun } from '../../engines/cassandra/leftovers.ts';
import { readState, runFolder, writeState } from '../../engines/folders.ts';
import { isRunning, startDaemon, type Daemon } from '../../engines/process.ts';
import { get } from '../../src/operations/index.ts';
import { medianMs } from './support/median.ts';
import { openStore, seen, type Seen } from './support/cassandra-stores.ts';
import { WAYS, type Way, type WayOptions } from './support/cassandra-read-strategies.ts';
import { isShort, withCassandraTools } from './support/cassandra.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'correctables-cassandra-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());
withCassandraTools();

const options = (name: string): ClusterOptions => {
  return { nodes: 1, wan: 'none', fast: true, folder: join(folder, name), progress: () => {} };
};

/** Runs `npm run engines -- …` with a run folder of this file, and a path without Maven. */
function engines(...args: string[]): Promise<{ readonly code: number; readonly output: string }> {
  const bin = join(folder, 'bin');
  if (!existsSync(bin)) {
    mkdirSync(bin);
    symlinkSync('/bin/ps', join(bin, 'ps'));
    writeFileSync(join(bin, 'java'), `#!/bin/sh\nexec "${javaPath()}" "$@"\n`);
    chmodSync(join(bin, 'java'), 0o755);
  }
  const env = { ...process.env, PATH: bin, JAVA_HOME: '', CORRECTABLES_RUN: folder };
  return new Promise((resolve) => {
    const command = ['--import', 'tsx', join(root, 'engines/main.ts'), ...args];
    execFile(process.execPath, command, { cwd: root, env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
    });
  });
}

function javaPath(): string {
  const java = requireTools();
  if (java !== 'java') return java;
  const found = (process.env['PATH'] ?? '')
    .split(':')
    .find((item) => existsSync(join(item, 'java')));
  return join(found ?? '', 'java');
}

test('java: missing → unavailable, with what to install', async () => {
  vi.stubEnv('JAVA_HOME', join(folder, 'nowhere'));
  const start = Cluster.start(options('no-java'));
  await expect(start).rejects.toThrow(EngineUnavailable);
  await expect(start).rejects.toThrow(/nowhere.* is missing: .*install a JDK 17/);
});

test('java: another version → unavailable, with the version found', async () => {
  const home = join(folder, 'old');
  mkdirSync(join(home, 'bin'), { recursive: true });
  writeFileSync(
    join(home, 'bin/java'),
    '#!/bin/sh\necho \'openjdk version "11.0.2" 2019-01-15\' >&2\n',
  );
  chmodSync(join(home, 'bin/java'), 0o755);
  vi.stubEnv('JAVA_HOME', home);
  await expect(Cluster.start(options('old-java'))).rejects.toThrow(
    /is Java 11: .*install a JDK 17/,
  );
});

test('maven: missing before the first download → unavailable, with what to install', async () => {
  const java = javaPath();
  mkdirSync(join(folder, 'home/bin'), { recursive: true });
  symlinkSync(java, join(folder, 'home/bin/java'));
  vi.stubEnv('JAVA_HOME', join(folder, 'home'));
  vi.stubEnv('PATH', '');
  vi.stubEnv('CORRECTABLES_CACHE', join(folder, 'empty-cache'));
  await expect(Cluster.start(options('no-maven'))).rejects.toThrow(
    /mvn is missing: .*install Maven/,
  );
});

test('node: dies while it starts → an error with the place of its log and its last lines; nothing is left', async () => {
  const states: ClusterState[] = [];
  const onChange = (state: ClusterState): void => {
    states.push(structuredClone(state));
    writeFileSync(join(state.folder, 'frankfurt', 'cassandra.yaml'), 'no_such_setting: true\n');
  };
  const start = Cluster.start({ ...options('dies'), onChange });
  const log = join(folder, 'dies', 'frankfurt.log');
  await expect(start).rejects.toThrow(
    `the Cassandra node of frankfurt ended; see ${log}, which ends with`,
  );
  await expect(start).rejects.toThrow('no_such_setting');
  expect(readFileSync(log, 'utf8')).toContain('no_such_setting');
  expect(Object.values(states.at(-1)?.daemons ?? {}).map(isRunning)).toEqual([false]);
});

test('cluster of a program that was killed → stopped by the next one, its data removed; that of a living one stays', async () => {
  vi.stubEnv('CORRECTABLES_RUN', join(folder, 'leftovers'));
  const layout = await layOut({ nodes: 1, wan: 'none', nodesDelay: false });
  const leave = (pid: number): { readonly daemon: Daemon; readonly run: string } => {
    const run = `cassandra/program-${pid}-1`;
    const where = runFolder(run);
    const logFile = join(where, 'log');
    const daemon = startDaemon({
      command: 'sleep',
      args: [`9${pid}`],
      mark: `sleep 9${pid}`,
      logFile,
      cwd: where,
    });
    writeState(run, { folder: where, layout, daemons: { frankfurt: daemon }, proxy: undefined });
    return { daemon, run };
  };
  const killed = leave(spawnSync(process.execPath, ['--version']).pid);
  const living = leave(process.pid);
  expect(await stopLeftovers()).toBe(true);
  expect([isRunning(killed.daemon), isRunning(living.daemon)]).toEqual([false, true]);
  expect([readState(killed.run), readState(living.run)]).toEqual([
    undefined,
    expect.objectContaining({ layout }),
  ]);
  await stopRun(living.run);
  expect(isRunning(living.daemon)).toBe(false);
});

test('up, status, down: one node, without Maven → serves, is found again, leaves no process', async (context) => {
  context.skip(isShort, 'it starts a cluster of its own: not with --short');
  const up = await engines('up', 'cassandra', '--nodes', '1');
  expect(up, up.output).toMatchObject({ code: 0 });
  const status = await engines('status');
  expect(status.output).toMatch(
    /^cassandra: frankfurt \(eu\) 127\.0\.\d+\.1:9042 serves, reaches 1 of 1, delays: none/m,
  );
  expect((await engines('up', 'cassandra', '--nodes', '1')).output).toContain('runs already');
  const { output } = await engines('status', '--json');
  const { cassandra: state } = JSON.parse(output) as {
    cassandra: ClusterState & { contactPoints: { ireland: string[] } };
  };
  expect(state.contactPoints.ireland).toEqual([`${state.layout.nodes[0]?.address}:9042`]);
  const daemons = Object.values(state.daemons);
  vi.stubEnv('CORRECTABLES_RUN', folder);
  const reported: string[] = [];
  const used = await useCluster({ nodes: 1 }, (text) => reported.push(text));
  await used.stop();
  expect(reported).toEqual(['using the Cassandra cluster that runs (delays: none)']);
  expect(daemons.map(isRunning)).toEqual([true]);
  expect((await engines('down', 'cassandra')).output).toContain('cassandra: stopped');
  expect(daemons.map(isRunning)).toEqual([false]);
  expect((await engines('status')).output).toContain('cassandra: down');
});

test("no plugin, the paper's delays → by proxies, a quorum and all take the trips that they need", async (context) => {
  context.skip(isShort, 'it starts a cluster of its own: not with --short');
  await using cluster = await Cluster.start({ ...options('proxies'), nodes: 3, wan: 'paper' });
  const client = clientOf(cluster.nodes[0]?.address ?? '', cluster.access);
  await client.execute(`CREATE KEYSPACE shop WITH replication = ${cluster.replication}`);
  await client.execute('CREATE TABLE shop.kv (key text PRIMARY KEY, value text)');
  const medianOf = (consistency: number): Promise<number> =>
    medianMs(15, () =>
      client.execute("SELECT value FROM shop.kv WHERE key = 'k'", [], {
        prepare: true,
        consistency,
      }),
    );
  const { one: item, quorum, all } = cassandra.types.consistencies;
  const took = {
    one: await medianOf(item),
    quorum: await medianOf(quorum),
    all: await medianOf(all),
  };
  await client.shutdown();
  // A busy machine adds, and never takes away: the lower bounds are those of the wide area.
  expect(took.quorum).toBeGreaterThan(19);
  expect(took.all).toBeGreaterThan(89);
  expect(took.one).toBeLessThan(took.quorum);
  expect(took.quorum).toBeLessThan(took.all);
});

test('authentication and TLS: required → a client without the password or the certificate is rejected', async (context) => {
  context.skip(isShort, 'it starts a cluster of its own: not with --short');
  const guarded = { ...options('guarded'), plugin: true, authentication: true, tls: true };
  await using cluster = await Cluster.start(guarded);
  const { credentials } = cluster.access;
  if (credentials === undefined) throw new Error('there are no credentials');
  const wrong = { ...credentials, password: 'wrong' };
  // The driver accepts any certificate unless it is configured to check.
  const tls = { ca: [readFileSync(cluster.certificate ?? '')], rejectUnauthorized: true };
  const read = async (way: Way, access: WayOptions): Promise<Seen> => {
    const { store, close } = await openStore(
      way,
      { cluster, keyspace: 'shop' },
      { createTable: true, lazy: true, ...access },
    );
    const answer = await seen(store.invoke(get('k')));
    await close();
    return { views: answer.views.slice(-1), error: answer.error };
  };
  const client = clientOf(cluster.nodes[0]?.address ?? '', cluster.access);
  await client.execute(`CREATE KEYSPACE shop WITH replication = ${cluster.replication}`);
  await client.shutdown();
  for (const way of WAYS) {
    expect(await read(way, { credentials, tls })).toEqual({
      views: [['strong', undefined]],
      error: undefined,
    });
    expect(await read(way, { credentials: wrong, tls })).toEqual({
      views: [],
      error: 'UNAUTHENTICATED',
    });
    expect(await read(way, { credentials, tls: { rejectUnauthorized: true } })).toMatchObject({
      error: 'UNAVAILABLE',
    });
    expect(await read(way, { credentials })).toMatchObject({ views: [], error: 'UNAVAILABLE' });
  }
});
