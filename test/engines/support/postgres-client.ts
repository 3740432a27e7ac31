/** Clients of PostgreSQL for one test. */
import { Pool, type PoolConfig } from 'pg';
import { onTestFinished } from 'vitest';
import type { PostgresServers } from '../../../engines/postgres/servers.ts';
import {
  migrations,
  postgres,
  type PostgresOptions,
} from '../../../src/bindings/postgres/index.ts';
import { createClient, type Client } from '../../../src/correctable/client/client.ts';
import type { ReplicaLevels, ReplicasBinding } from '../../../src/bindings/replicas/index.ts';

export interface OpenedPostgres {
  readonly binding: ReplicasBinding;
  readonly client: Client<ReplicaLevels>;
}

export const TOKEN_KEY = 'a secret of all processes';

/** A binding to all servers, until the test ends. */
export function openForTest(
  servers: PostgresServers,
  options: Partial<PostgresOptions> = {},
): OpenedPostgres {
  const binding = openBinding(servers, options);
  const client = createClient(binding, { timeoutMs: 20_000 });
  onTestFinished(() => binding.close());
  return { binding, client };
}

export function openBinding(
  servers: PostgresServers,
  options: Partial<PostgresOptions> = {},
): ReplicasBinding {
  return postgres({
    primary: { ...servers.connection('primary') },
    replicas: servers.replicas.map(({ name }) => ({ ...servers.connection(name) })),
    tokenKey: TOKEN_KEY,
    ...options,
  });
}

/** A pool of the application, until the test ends. */
export function poolForTest(servers: PostgresServers, name: string, config: PoolConfig = {}): Pool {
  const pool = new Pool({ ...servers.connection(name), pipeline: true, ...config } as PoolConfig);
  pool.on('error', () => {}); // Idle connections to a server that was killed.
  onTestFinished(() => pool.end());
  return pool;
}

/** Creates the tables of the binding, and waits until all replicas have them. */
export async function prepareTables(servers: PostgresServers): Promise<void> {
  await servers.query('primary', migrations());
  await untilAllCaughtUp(servers);
}

export async function untilAllCaughtUp(servers: PostgresServers): Promise<void> {
  await Promise.all(servers.replicas.map(({ name }) => servers.untilCaughtUp(name)));
}

/**
 * Waits for an operation that fails, and returns its error. Call it before the failure can come.
 */
export async function catchFailure(operation: PromiseLike<unknown>): Promise<unknown> {
  try {
    await operation;
  } catch (error) {
    return error;
  }
  throw new Error('the operation did not fail');
}
