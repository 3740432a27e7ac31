/**
 * Opens a new keyspace on a real cluster: the one that `npm run engines -- up cassandra` started if
 * it has the requested kind, otherwise a cluster for this program.
 */
import cassandra from 'cassandra-driver';
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import { useCluster } from '../../../engines/cassandra/engine.ts';
import type { Placement } from '../../../engines/wan.ts';
import type { Site, WanPreset } from '../options.ts';

export interface KeyspaceOptions {
  /** The prefix of the name of the keyspace. */
  readonly name: string;
  /** The statements that make the tables. */
  readonly tables: readonly string[];
  readonly wan: WanPreset;
  /** The placement of the nodes. Default: `paper` */
  readonly placement?: Placement | undefined;
  /** Whether the nodes must support preliminary views. */
  readonly plugin: boolean;
  /** The site of the node through which the tables are made and filled. */
  readonly coordinator: Site;
  /** A cluster to use, whatever its kind. */
  readonly cluster?: Cluster | undefined;
}

export interface Keyspace {
  readonly cluster: Cluster;
  readonly name: string;
  /** Writes rows by one prepared statement, and waits until two replicas have each of them. */
  fill(cql: string, rows: Iterable<readonly unknown[]>): Promise<void>;
  /** Drops the keyspace, and stops the cluster if it was started for it. */
  close(): Promise<void>;
}

/**
 * The number of rows written at a time. The next constant is the number of such batches in flight:
 * each occupies a thread of its coordinator until two nodes have it.
 */
const BATCH = 10;
const IN_FLIGHT = 64;
const ATTEMPTS = 5;
const { types } = cassandra;
const WRITE_TIMEOUT: number = types.responseErrorCodes.writeTimeout;

/** Creates the keyspace, with a replica on each node. `progress` receives lines for the user. */
export async function openKeyspace(
  options: KeyspaceOptions,
  progress: (text: string) => void,
): Promise<Keyspace> {
  const { wan, placement = 'paper', plugin, tables, coordinator } = options;
  const { cluster, stop } =
    options.cluster === undefined
      ? await useCluster({ wan, placement, ...(plugin && { plugin }) }, progress)
      : { cluster: options.cluster, stop: async () => {} };
  const name = `${options.name}_${process.pid}_${Date.now()}`;
  const client = new cassandra.Client({
    contactPoints: [cluster.address(coordinator)],
    localDataCenter: dataCenterOf(cluster, coordinator),
    // Use only this node, because others may be delayed.
    policies: {
      loadBalancing: new cassandra.policies.loadBalancing.AllowListPolicy(
        new cassandra.policies.loadBalancing.RoundRobinPolicy(),
        [cluster.address(coordinator)],
      ),
    },
  });
  const close = async (): Promise<void> => {
    await client.shutdown();
    await stop();
  };
  try {
    await client.connect();
    await client.execute(`CREATE KEYSPACE ${name} WITH replication = ${cluster.replication}`);
    await client.execute(`USE ${name}`);
    for (const table of tables) await client.execute(table);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    cluster,
    name,
    async fill(cql, rows) {
      const batches = portions([...rows], BATCH)[Symbol.iterator]();
      const write = async (): Promise<void> => {
        for (const batch of batches) {
          const queries = batch.map((params) => ({ query: cql, params: [...params] }));
          const consistency = types.consistencies.localQuorum;
          await patiently(() =>
            client.batch(queries, { prepare: true, logged: false, consistency }),
          );
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, write));
    },
    async close() {
      await client.execute(`DROP KEYSPACE ${name}`);
      await close();
    },
  };
}

/** Retries writes that time out on a busy machine. Writing a row twice has no further effect. */
async function patiently<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof cassandra.errors.ResponseError) || error.code !== WRITE_TIMEOUT)
        throw error;
    }
  }
  return write();
}

function* portions<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

function dataCenterOf({ nodes }: Cluster, site: Site): string {
  const node = nodes.find((item) => item.site === site);
  if (node === undefined) throw new RangeError(`the cluster has no node at ${site}`);
  return node.dataCenter;
}
