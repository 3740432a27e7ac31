/**
 * Counts the reads a second of one busy client in each way, on a primary and a replica without
 * delays.
 */
import type { Pool } from 'pg';
import { createClient } from 'correctables';
import { postgres } from 'correctables/bindings/postgres';
import { get, put } from 'correctables/operations';
import type { PostgresServers } from '../../engines/postgres/servers.ts';
import { rotate } from '../harness/rotate.ts';
import { THROUGHPUT_WAYS, type ThroughputWay } from './goals.ts';
import { openPool } from './open-pool.ts';

const KEYS = 100;
const LANES = 16;
const WARM_UP_MS = 200;

interface ThroughputOptions {
  readonly durationMs: number;
  /** Each round begins with another way. */
  readonly round: number;
}

/** Returns the reads a second of each way. */
export async function measureThroughput(
  servers: PostgresServers,
  { durationMs, round }: ThroughputOptions,
): Promise<Readonly<Record<ThroughputWay, number>>> {
  const primary = { ...servers.connection('primary'), max: LANES };
  const replica = { ...servers.connection('replica-1'), max: LANES };
  const pools = [replica, primary].map(openPool);
  const client = createClient(postgres({ primary, replicas: [replica] }));
  const keyOf = (n: number): string => `bench-${n % KEYS}`;
  const read = (pool: Pool, n: number): Promise<unknown> =>
    pool.query({
      name: 'bench_read',
      text: 'select key, value from correctables_values where key = $1',
      values: [keyOf(n)],
    });
  const ways: Readonly<Record<ThroughputWay, (n: number) => PromiseLike<unknown>>> = {
    'both views': (n) => client.invoke(get(keyOf(n))),
    'two plain reads': (n) => Promise.all(pools.map((pool) => read(pool, n))),
    'one plain read': (n) => read(pools[1] as Pool, n),
  };
  try {
    for (let n = 0; n < KEYS; n += 1) await client.invoke(put(keyOf(n), 'v'.repeat(98)));
    await servers.untilCaughtUp('replica-1');
    const measured: [ThroughputWay, number][] = [];
    for (const way of rotate(THROUGHPUT_WAYS, round)) {
      await countReads(ways[way], WARM_UP_MS);
      measured.push([way, (1_000 * (await countReads(ways[way], durationMs))) / durationMs]);
    }
    return Object.fromEntries(measured) as Record<ThroughputWay, number>;
  } finally {
    await Promise.all([client.close(), ...pools.map((pool) => pool.end())]);
  }
}

async function countReads(
  read: (n: number) => PromiseLike<unknown>,
  durationMs: number,
): Promise<number> {
  const until = performance.now() + durationMs;
  let count = 0;
  let next = 0;
  const runLane = async (): Promise<void> => {
    while (performance.now() < until) {
      await read(next++);
      if (performance.now() < until) count += 1;
    }
  };
  await Promise.all(Array.from({ length: LANES }, runLane));
  return count;
}
