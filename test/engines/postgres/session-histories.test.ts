/**
 * Sessions while the replay of replicas is paused and resumed at random: no view goes back. Without sessions, the same
 * checker finds that views do.
 */
import { beforeAll, expect, test } from 'vitest';
import type { ReplicasBinding } from '../../../src/bindings/replicas/index.ts';
import { createClient } from '../../../src/correctable/client/client.ts';
import { get, put } from '../../../src/operations/index.ts';
import { Random } from '../../../src/server/collections/random.ts';
import { SessionFloor } from '../../support/session-floor.ts';
import { openForTest, poolForTest, prepareTables, untilAllCaughtUp } from '../support/postgres-client.ts';
import { withPostgres } from '../support/postgres.ts';

const it = withPostgres();

const SEED = Number(process.env['SESSIONS_SEED'] ?? 7);
const READS = 10_000;
const KEYS = 5;
const SESSIONS = 8;

beforeAll(() => prepareTables(it.servers));

interface Run {
  readonly name: string;
  readonly hasSessions: boolean;
  readonly reads: number;
}

interface Outcome {
  reads: number;
  /** Views of replicas. */
  early: number;
  readonly violations: string[];
}

/** Two processes: the nearest replica of each is another one. */
function openProcesses(): readonly ReplicasBinding[] {
  const replicas = it.servers.replicas.map(({ name }) => ({ ...it.servers.connection(name) }));
  return [replicas, replicas.toReversed()].map((list) => openForTest(it.servers, { replicas: list }).binding);
}

async function runHistory({ name, hasSessions, reads }: Run): Promise<Outcome> {
  const bindings = openProcesses();
  const outcome: Outcome = { reads: 0, early: 0, violations: [] };
  const isDone = (): boolean => outcome.reads >= reads;
  const keyOf = (number: number): string => `${name}-${number % KEYS}`;

  const count = async (): Promise<void> => {
    const client = createClient(bindings[0]!);
    for (let number = 0; !isDone(); number += 1) await client.invoke(put(keyOf(number), number));
  };
  const disturb = async (random: Random): Promise<void> => {
    const pools = it.servers.replicas.map((replica) => poolForTest(it.servers, replica.name));
    // The replay may cancel the statement itself. Then nothing is paused or resumed this time.
    const order = (pool: (typeof pools)[number], what: string): Promise<boolean> =>
      pool.query(`select pg_wal_replay_${what}()`).then(
        () => true,
        () => false,
      );
    while (!isDone()) {
      const pool = pools[random.between(0, pools.length - 1)]!;
      await order(pool, random.between(0, 1) === 0 ? 'pause' : 'resume');
      await new Promise((resolve) => setTimeout(resolve, random.between(5, 60)));
    }
    for (const pool of pools) await expect.poll(() => order(pool, 'resume')).toBe(true);
  };
  const readAsOne = async (session: number, random: Random): Promise<void> => {
    const clients = bindings.map((binding) => createClient(binding));
    const floor = new SessionFloor(KEYS);
    const own = `${name}-own-${session}`;
    let at = 0;
    let open = hasSessions ? clients[at]!.session() : undefined;
    for (let written = 0; !isDone(); outcome.reads += 1) {
      const choice = random.between(0, 9);
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
      const key = choice < 4 ? -1 : random.between(0, KEYS - 1);
      const operation = get<number>(key < 0 ? own : keyOf(key));
      const levels = choice % 2 === 0 ? (['replica'] as const) : (['replica', 'primary'] as const);
      for await (const { level, value } of client.invoke(operation, { ...how, levels })) {
        if (level === 'replica') outcome.early += 1;
        const isBack = key < 0 ? floor.seeOwn(value) : floor.see(key, value);
        if (isBack) outcome.violations.push(`session ${session}, ${operation.key}: ${level} shows ${value}`);
      }
    }
  };

  const random = new Random(SEED);
  const sessions = Array.from({ length: SESSIONS }, (_, session) => readAsOne(session, new Random(random.bits())));
  await Promise.all([count(), disturb(new Random(random.bits())), ...sessions]);
  await untilAllCaughtUp(it.servers);
  return outcome;
}

// @rule REPL-5
// @rule REPL-6
test(`${READS} reads in sessions: no view goes back (seed ${SEED})`, async () => {
  const { violations, early } = await runHistory({ name: 'with', hasSessions: true, reads: READS });
  expect(violations).toEqual([]);
  expect(early).toBeGreaterThan(READS / 20);
});

test(`the same reads without sessions: some views go back (seed ${SEED})`, async () => {
  const { violations } = await runHistory({ name: 'without', hasSessions: false, reads: READS / 5 });
  expect(violations.length).toBeGreaterThan(10);
});
