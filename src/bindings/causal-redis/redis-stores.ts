/** Connections to the Redis of all sites. */
import { MICROSECONDS_PER_MS } from '../../causal/stamps.ts';
import { loadRedisDriver } from '../shared/redis/redis-driver.ts';
import { RedisKeyspace, type Keyspace } from './keyspace.ts';
import { OpenedConnection } from './connection.ts';
import type { ResolvedDeployment, SiteSource } from './options.ts';
import type { ScriptConnection } from './driver.ts';
import { createRedisPartitionPort } from './redis-partition-port.ts';
import type { SiteStores } from './site-stores.ts';

/**
 * Opens connections to the nodes in the options. `close` closes them, but not connections that the
 * application has passed.
 *
 * @throws CorrectableError `UNSUPPORTED` if `ioredis` is needed and missing
 */
export async function openRedisStores({ name, sources }: ResolvedDeployment): Promise<SiteStores> {
  const opened: ScriptConnection[] = [];
  const connections = new Map<string, ScriptConnection>();
  const keyspaces = new Map<string, Keyspace>();
  for (const [site, source] of sources) {
    const connection = await openSource(source, opened);
    connections.set(site, connection);
    keyspaces.set(site, new RedisKeyspace(connection, name));
  }
  return {
    keyspaces,
    createPort: ({ sites, limits, getSiteView }) =>
      createRedisPartitionPort({
        name,
        connections: sites.map((site) => connections.get(site) as ScriptConnection),
        siteCount: sites.length,
        limits,
        requestTimeoutMs: limits.requestTimeout / MICROSECONDS_PER_MS,
        getSiteView,
      }),
    close: () => {
      for (const connection of opened) connection.disconnect();
    },
  };
}

async function openSource(
  source: SiteSource,
  opened: ScriptConnection[],
): Promise<ScriptConnection> {
  if ('connection' in source) return source.connection;
  const driver = await loadRedisDriver('causalRedis');
  const connection = new OpenedConnection(() => Promise.resolve(driver), source);
  opened.push(connection);
  return connection;
}
