/**
 * Reads in sessions on replicas whose replay is paused and resumed at random. Checks each view
 * against what its session has seen and written before. One writer counts up, and writes each
 * number to the next of several keys.
 */
import type { Pool } from 'pg';
import { createClient } from 'correctables';
import { postgres, type ReplicasBinding } from 'correctables/bindings/postgres';
import { get, put } from 'correctables/operations';
import type { PostgresServers } from '../../engines/postgres/servers.ts';
import { waitUntil } from '../../engines/process.ts';
import { seededAt, wholeBetween, type Random } from '../../demo/shared/random.ts';
import { openPool } from './open-pool.ts';
import { SessionFloor } from './session-floor.ts';

const KEYS = 5;
const SESSIONS = 8;
const RESUME_MS = 20_000;
const TOKEN_KEY = 'a secret of all processes';

export interface SessionHistoryOptions {
  /** The prefix of the names of the keys. */
  readonly name: string;
  readonly seed: number;
  readonly reads: number;
  /** Whether the reads are in sessions. Otherwise they are independent of each other. */
  readonly hasSessions: boolean;
}

export interface SessionHistory {
  readonly reads: number;
  /** The number of views of replicas. */
  readonly early: number;
  /** Descriptions of the views that a session must not have. */
  readonly violations: readonly string[];
}

/** Runs the reads. The tables of the binding must exist. */
export async function runSessionHistory(
  servers: PostgresServers,
  { name, seed, reads, hasSessions }: SessionHistoryOptions,
): Promise<SessionHistory> {
  const bindings = openProcesses(servers);
  const outcome = { reads: 0, early: 0, violations: [] as string[] };
  const isDone = (): boolean => outcome.reads >= reads;
  const keyOf = (number: number): string => `${name}-${number % KEYS}`;

  const count = async (): Promise<void> => {
    const client = createClient(bindings[0]);
    for (let number = 0; !isDone(); number += 1) await client.invoke(put(keyOf(number), number));
  };
  const readAsOne = async (session: number, random: Random): Promise<void> => {
    const clients = bindings.map((binding) => createClient(binding));
    const floor = new SessionFloor(KEYS);
    const own = `${name}-own-${session}`;
    let at = 0;
    let open = hasSessions ? clients[at]!.session() : undefined;
    for (let written = 0; !isDone(); outcome.reads += 1) {
      const choice = wholeBetween(random, 0, 9);
      if (choice === 0) {
        // The session goes on in the other process.
        const tokens = open?.tokens ?? [];
        at = 1 - at;
        open = hasSessions ? clients[at]!.session({ tokens }) : undefined;
      }
      const how = { ...(open !== undefined && { session: open }) };
      const client = clients[at]!;
      if (choice === 1) {
        written += 1;
        await client.invoke(put(own, written), how);
        floor.write(written);
      }
      const key = choice < 4 ? -1 : wholeBetween(random, 0, KEYS - 1);
      const operation = get<number>(key < 0 ? own : keyOf(key));
      const levels = choice % 2 === 0 ? (['replica'] as const) : (['replica', 'primary'] as const);
      for await (const { level, value } of client.invoke(operation, { ...how, levels })) {
        if (level === 'replica') outcome.early += 1;
        const isBack = key < 0 ? floor.seeOwn(value) : floor.see(key, value);
        if (isBack)
          outcome.violations.push(`session ${session}, ${operation.key}: ${level} shows ${value}`);
      }
    }
  };

  try {
    const sessions = Array.from({ length: SESSIONS }, (_, session) =>
      readAsOne(session, seededAt(seed, session)),
    );
    await Promise.all([
      count(),
      disturbReplay(servers, seededAt(seed, SESSIONS), isDone),
      ...sessions,
    ]);
    return outcome;
  } finally {
    await Promise.all(bindings.map((binding) => binding.close()));
  }
}

/** Opens the bindings of two processes. Each has another nearest replica. */
function openProcesses(servers: PostgresServers): readonly [ReplicasBinding, ReplicasBinding] {
  const primary = { ...servers.connection('primary') };
  const replicas = servers.replicas.map(({ name }) => ({ ...servers.connection(name) }));
  const open = (list: typeof replicas): ReplicasBinding =>
    postgres({ primary, replicas: list, tokenKey: TOKEN_KEY });
  return [open(replicas), open(replicas.toReversed())];
}

/** Pauses and resumes the replay of a random replica, and resumes all in the end. */
async function disturbReplay(
  servers: PostgresServers,
  random: Random,
  isDone: () => boolean,
): Promise<void> {
  const pools = servers.replicas.map(({ name }) => openPool(servers.connection(name)));
  // The replay may cancel the statement. Then nothing is paused or resumed this time.
  const order = (pool: Pool, what: string): Promise<boolean> =>
    pool.query(`select pg_wal_replay_${what}()`).then(
      () => true,
      () => false,
    );
  try {
    while (!isDone()) {
      const pool = pools[wholeBetween(random, 0, pools.length - 1)] as Pool;
      await order(pool, wholeBetween(random, 0, 1) === 0 ? 'pause' : 'resume');
      await new Promise((resolve) => setTimeout(resolve, wholeBetween(random, 5, 60)));
    }
    for (const pool of pools)
      if (!(await waitUntil(() => order(pool, 'resume'), RESUME_MS)))
        throw new Error('the replay does not go on');
    await Promise.all(servers.replicas.map(({ name }) => servers.untilCaughtUp(name)));
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
  }
}
