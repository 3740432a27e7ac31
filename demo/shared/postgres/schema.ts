/**
 * Creates a separate schema on real PostgreSQL servers. It uses the servers that `npm run engines -- up postgres` has started
 * if they have the requested delays. Otherwise it starts servers for this program.
 */
import { migrations, type PostgresConnection } from 'correctables/bindings/postgres';
import { useRunningPostgres } from '../../../engines/postgres/engine.ts';
import type { PostgresServers } from '../../../engines/postgres/servers.ts';
import { roundTripMs } from '../../../engines/wan.ts';
import type { Site, WanPreset } from '../options.ts';

export interface SchemaOptions {
  /** The prefix of the name of the schema. */
  readonly name: string;
  /** Further statements that are executed in this schema. */
  readonly tables?: readonly string[];
  readonly wan: WanPreset;
  /** The maximum number of connections of a client to each server. */
  readonly connections: number;
}

export interface Schema {
  readonly name: string;
  /** Returns the options of `postgres` for a client at a site. */
  connect(site: Site): {
    readonly schema: string;
    readonly primary: PostgresConnection;
    readonly replicas: PostgresConnection[];
  };
  /** Writes rows by a statement that takes a list of them as JSON. */
  fill(sql: string, rows: Iterable<object>): Promise<void>;
  /** Waits until all replicas have what was written. */
  untilCaughtUp(): Promise<void>;
  /** Drops the schema, and stops the servers if they were started for it. */
  close(): Promise<void>;
}

const ROWS_AT_A_TIME = 5_000;
/**
 * The timeout of a request for a connection. It is long, because requests of a busy client wait for
 * one.
 */
const CONNECT_TIMEOUT_MS = 60_000;

/** Creates the schema with its tables. `progress` receives lines for the user. */
export async function openSchema(
  options: SchemaOptions,
  progress: (text: string) => void,
): Promise<Schema> {
  const { wan, tables = [], connections } = options;
  const { servers, stop } = await useRunningPostgres({ wan }, progress);
  const name = `${options.name}_${process.pid}_${Date.now()}`;
  const untilCaughtUp = async (): Promise<void> => {
    await Promise.all(servers.replicas.map((replica) => servers.untilCaughtUp(replica.name)));
  };
  const close = async (): Promise<void> => {
    await servers.query('primary', `drop schema if exists ${name} cascade`);
    await stop();
  };
  try {
    await servers.query('primary', `create schema ${name}`);
    await servers.query('primary', migrations({ schema: name }));
    for (const table of tables)
      await servers.query('primary', `set search_path to ${name}; ${table}`);
    await untilCaughtUp();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name,
    untilCaughtUp,
    close,
    connect: (site) => ({
      schema: name,
      ...connectionsFrom(servers, { site, wan, connections, schema: name }),
    }),
    async fill(sql, rows) {
      for (const part of portions([...rows], ROWS_AT_A_TIME))
        await servers.query('primary', sql, [JSON.stringify(part)]);
    },
  };
}

interface From {
  readonly site: Site;
  readonly wan: WanPreset;
  readonly connections: number;
  readonly schema: string;
}

/**
 * Returns the primary, and the replicas by their distance. For a client beside the primary, it is
 * also the first replica.
 */
function connectionsFrom(servers: PostgresServers, { site, wan, connections, schema }: From) {
  const near = servers.state.layout.servers.toSorted(
    (a, b) => roundTripMs(wan, site, a.place) - roundTripMs(wan, site, b.place),
  );
  const configs = near.map(({ name, clientPorts }): [string, PostgresConnection] => [
    name,
    {
      ...servers.connection(name, clientPorts[site]),
      max: connections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // Keep idle connections open, because opening one takes several round trips.
      idleTimeoutMillis: 0,
      options: `-c search_path=${schema}`,
    },
  ]);
  const primary = configs.find(([name]) => name === 'primary')?.[1] as PostgresConnection;
  const isBeside = configs[0]?.[0] === 'primary' && wan !== 'none';
  const replicas = configs
    .filter(([name]) => isBeside || name !== 'primary')
    .map(([, config]) => config);
  return { primary, replicas };
}

function* portions<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
