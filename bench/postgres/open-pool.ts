/** A pool of `pg` alone, to compare with. */
import { Pool, type PoolConfig } from 'pg';

/** Opens a pool that sends statements without waiting for the answer to the one before. */
export function openPool(config: PoolConfig): Pool {
  const pool = new Pool({ ...config, pipeline: true } as PoolConfig);
  // `end` does not wait until the connections are closed. A server that stops meanwhile must not
  // end the process.
  pool.on('error', () => {});
  return pool;
}
