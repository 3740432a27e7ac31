/**
 * A real Cassandra cluster for tests: one for the whole run, with a keyspace of its own for each
 * file.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type cassandra from 'cassandra-driver';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { clientOf } from '../../../engines/cassandra/ask.ts';
import {
  Cluster,
  requireTools,
  type ClusterOptions,
  type ClusterState,
} from '../../../engines/cassandra/cluster.ts';
import { forgetState, readState, runFolder, writeState } from '../../../engines/folders.ts';
import type { Site } from '../../../engines/wan.ts';
import { missingTools } from './missing-tools.ts';

export interface TestCluster {
  /**
   * Whether there is a cluster: not where the tests are skipped. For `beforeAll`, which is run all
   * the same.
   */
  readonly isThere: boolean;
  readonly cluster: Cluster;
  /** A keyspace with a replica at each node, of this file alone. */
  readonly keyspace: string;
  /** A client of the node at this site alone, closed after the tests. */
  client(at: Site, from?: Site): cassandra.Client;
}

/** Whether the run is to be a short one: tests that start clusters of their own are left out. */
export const isShort: boolean = process.env['ENGINES_SHORT'] === '1';

/** The release to test with; unless given, the one that the plugin is built with. */
const VERSION = process.env['CASSANDRA_VERSION'];
const release = VERSION === undefined ? {} : { version: VERSION };

/**
 * Where Java or Maven is missing the tests of the file fail; with SKIP_ENGINES=1 they are skipped,
 * with the reason.
 */
export function withCassandraTools(): void {
  let missing: string | undefined;
  beforeAll(() => {
    missing = missingTools(requireTools);
  });
  beforeEach((context) => context.skip(missing !== undefined, missing));
}

/**
 * The cluster of the run: Frankfurt, Ireland and Virginia with the paper's delays, and preliminary
 * views. The first file that uses it starts it; a file that kills or freezes nodes need not heal
 * it.
 *
 * @param own a cluster of another kind, for this file alone
 */
export function withCassandra(own?: Partial<ClusterOptions>): TestCluster {
  let cluster: Cluster | undefined;
  let stop = async (): Promise<void> => {};
  const clients: cassandra.Client[] = [];
  const keyspace = `test_${randomBytes(6).toString('hex')}`;
  const made = (): Cluster => {
    if (cluster === undefined) throw new Error('the cluster has not been started');
    return cluster;
  };
  const client: TestCluster['client'] = (at, from) => {
    const [host] = made().address(at, from).split(':') as [string];
    const opened = clientOf(host, made().access);
    clients.push(opened);
    return opened;
  };
  withCassandraTools();
  beforeAll(async () => {
    if (missingTools(requireTools) !== undefined) return;
    if (own === undefined) cluster = await clusterOfTheRun();
    else ({ cluster, stop } = await startOwn(own));
    await client('frankfurt').execute(
      `CREATE KEYSPACE ${keyspace} WITH replication = ${cluster.replication}`,
    );
  });
  afterAll(async () => {
    await Promise.all(clients.map((item) => item.shutdown()));
    await stop();
  });
  return {
    get isThere() {
      return cluster !== undefined;
    },
    get cluster() {
      return made();
    },
    keyspace,
    client,
  };
}

/** Starts the run's cluster, or takes it over and heals it. */
async function clusterOfTheRun(): Promise<Cluster> {
  const run = inject('cassandraRun');
  const onChange = (state: ClusterState): void => writeState(run, state);
  const state = readState<ClusterState>(run);
  if (state === undefined)
    return await Cluster.start({ ...SHARED, folder: join(runFolder(run), 'cluster'), onChange });
  const cluster = new Cluster(state, onChange);
  for (const site of cluster.sites) cluster.resume(site);
  for (const site of cluster.sites.filter((item) => !cluster.isRunning(item)))
    await cluster.restart(site);
  await cluster.untilReady();
  return cluster;
}

const SHARED = {
  nodes: 3,
  wan: 'paper',
  plugin: true,
  fast: true,
  progress: () => {},
  ...release,
} as const;

let ownClusters = 0;

/**
 * Starts a cluster under a name of this process: should it be killed, the next run stops the
 * cluster.
 */
async function startOwn(options: Partial<ClusterOptions>): Promise<Own> {
  ownClusters += 1;
  const run = `cassandra/tests-${process.pid}-${ownClusters}`;
  const cluster = await Cluster.start({
    nodes: 1,
    wan: 'none',
    fast: true,
    progress: () => {},
    folder: join(runFolder(run), 'cluster'),
    onChange: (state) => writeState(run, state),
    ...release,
    ...options,
  });
  const stop = async (): Promise<void> => {
    await cluster.stop();
    forgetState(run);
  };
  return { cluster, stop };
}

interface Own {
  readonly cluster: Cluster;
  readonly stop: () => Promise<void>;
}
