/** Reads the settings of the servers of a site: what they persist, and what they may evict. */
import type { RedisConnection } from './driver.ts';

/** One master, as far as the rights of the user allow to see it. */
export interface ServerReport {
  /** `host:port`, or `server` if the connection does not know. */
  readonly server: string;
  /** `redis` or `valkey`, with its version. */
  readonly software: string;
  readonly version: string;
  /** Replicas that are connected. */
  readonly replicas: number;
  /** Whether each write goes to an append-only file. `undefined` if unknown. */
  readonly hasAppendOnlyFile: boolean | undefined;
  /** `undefined` if `CONFIG GET` is refused. */
  readonly evictionPolicy: string | undefined;
  readonly maxMemoryBytes: number | undefined;
  readonly usedMemoryBytes: number | undefined;
}

/** @throws the error of a server that does not answer, or that refuses `INFO` */
export async function inspectServers(
  connection: RedisConnection,
): Promise<readonly ServerReport[]> {
  // Call a command first: a `Cluster` knows its masters only when it is connected.
  await connection.call('ping');
  const masters = connection.nodes?.('master') ?? [connection];
  return Promise.all(masters.map(inspectServer));
}

async function inspectServer(server: RedisConnection): Promise<ServerReport> {
  const info = parseInfo(String(await server.call('INFO')));
  // Managed services refuse CONFIG. INFO contains most of the settings.
  const config = await server.call('CONFIG', 'GET', 'maxmemory-policy').then(
    (reply) => findSetting(reply, 'maxmemory-policy'),
    () => undefined,
  );
  const { host, port } =
    (server as { readonly options?: { host?: string; port?: number } }).options ?? {};
  const aof = info['aof_enabled'];
  return {
    server: host === undefined ? 'server' : `${host}:${port}`,
    software: info['valkey_version'] === undefined ? 'redis' : 'valkey',
    version: info['valkey_version'] ?? info['redis_version'] ?? 'unknown',
    replicas: Number(info['connected_slaves'] ?? 0),
    hasAppendOnlyFile: aof === undefined ? undefined : aof === '1',
    evictionPolicy: config ?? info['maxmemory_policy'],
    maxMemoryBytes: toNumber(info['maxmemory']),
    usedMemoryBytes: toNumber(info['used_memory']),
  };
}

function parseInfo(text: string): Readonly<Record<string, string>> {
  const lines = text.split(/\r?\n/).filter((line) => /^\w+:/.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1)];
    }),
  );
}

/** With RESP3, the reply is an object. With RESP2, it is an array of names and values. */
function findSetting(reply: unknown, name: string): string | undefined {
  if (!Array.isArray(reply)) return (reply as Record<string, string>)?.[name];
  return reply[1] === undefined ? undefined : String(reply[1]);
}

function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
