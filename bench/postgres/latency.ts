/**
 * Compares both views of a read with plain reads by `pg`. The client is in Ireland, the primary in
 * Virginia, and the nearest replica beside the client or in Frankfurt. Also compares a transaction
 * with `BEGIN` and `COMMIT`, and counts the reads a second of a busy client without delays.
 */
import { migrations } from 'correctables/bindings/postgres';
import {
  usePostgres,
  useRunningPostgres,
  type UsedPostgres,
} from '../../engines/postgres/engine.ts';
import { readPostgresVersion } from '../../engines/postgres/programs.ts';
import { roundTripMs } from '../../engines/wan.ts';
import { runAdaptiveRounds } from '../harness/adaptive-rounds.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { checkDelay, checkViews } from '../harness/preconditions.ts';
import { versionsOf } from '../harness/provenance.ts';
import { rotate } from '../harness/rotate.ts';
import { median, rounded, spread } from '../harness/statistics.ts';
import { Contender } from './contender.ts';
import { computeLatencyGoals, THROUGHPUT_WAYS, type ReadTimes, type Round } from './goals.ts';
import { measureThroughput } from './throughput.ts';

export const postgresLatency: Bench = {
  name: 'postgres-latency',
  about:
    'both views of a read on PostgreSQL beside pg alone, a transaction beside BEGIN and COMMIT, and throughput',
  run,
};

/** The nearest replica of the client in Ireland. */
const NEAREST = ['replica-1', 'replica-2'] as const;
const CLIENT = 'ireland';
interface Extent {
  readonly operations: number;
  readonly throughputMs: number;
}

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const extent: Extent = quick
    ? { operations: 10, throughputMs: 400 }
    : { operations: 60, throughputMs: 2_000 };
  const used: UsedPostgres[] = [];
  const contenders: Contender[] = [];
  let rounds: readonly Round[];
  try {
    const [far, near] = [
      await useRunningPostgres({ wan: 'paper' }, progress),
      await usePostgres({ wan: 'none', replicas: 1 }, progress),
    ];
    used.push(far, near);
    for (const { servers } of used) await servers.query('primary', migrations());
    for (const nearest of NEAREST) contenders.push(await Contender.open(far.servers, nearest));
    for (const contender of contenders) await contender.measureReads(5);
    rounds = await runAdaptiveRounds(
      async (round, of): Promise<Round> => {
        progress(of);
        return await measureRound(round, { contenders, near, extent });
      },
      {
        ...(quick ? { rounds: 2, looks: 1 } : { rounds: 7 }),
        computeGoalResults: computeLatencyGoals,
      },
    );
  } finally {
    await Promise.all(contenders.map((contender) => contender.close()));
    await Promise.all(used.map(({ stop }) => stop()));
  }
  return {
    versions: { postgres: await readPostgresVersion(), ...versionsOf('pg') },
    rounds: rounds.length,
    rows: [
      ...NEAREST.map((nearest, at) => rowOf(nearest, at, rounds)),
      ...transactionRows(rounds),
      ...throughputRows(rounds),
    ],
    bars: computeLatencyGoals(rounds),
    samples: rounds,
  };
}

interface Scene {
  readonly contenders: readonly Contender[];
  readonly near: UsedPostgres;
  readonly extent: Extent;
}

/** Measures one round. Each round begins with another contender. */
async function measureRound(round: number, { contenders, near, extent }: Scene): Promise<Round> {
  const { operations, throughputMs } = extent;
  const reads: ReadTimes[] = [];
  for (const [at, contender] of rotate([...contenders.entries()], round)) {
    const times = await contender.measureReads(operations);
    const title = `reads at ${NEAREST[at]}`;
    checkViews(title, { views: times.preliminaryViews, of: operations });
    checkDelay(title, {
      ms: times.plainPrimaryMs,
      atLeastMs: roundTripMs('paper', CLIENT, 'virginia'),
    });
    reads[at] = times;
  }
  const transactions = await contenders[0]!.measureTransactions(Math.ceil(operations / 4));
  const throughput = await measureThroughput(near.servers, { durationMs: throughputMs, round });
  return { reads, transactions, throughput };
}

function rowOf(nearest: string, at: number, rounds: readonly Round[]) {
  const over = (name: keyof ReadTimes) =>
    spread(rounds.map(({ reads }) => (reads[at] as ReadTimes)[name]));
  const ranges = {
    plainReplica: over('plainReplicaMs'),
    preliminary: over('preliminaryMs'),
    plainPrimary: over('plainPrimaryMs'),
    final: over('finalMs'),
  };
  const middle = Object.entries(ranges).map(([name, range]) => [
    `${name}Ms`,
    rounded(range.median),
  ]);
  return { nearest, ...(Object.fromEntries(middle) as Record<string, number>), ranges };
}

function transactionRows(rounds: readonly Round[]) {
  const names = {
    transaction: 'transactionMs',
    'BEGIN … COMMIT, two trips': 'pipelinedMs',
    'BEGIN … COMMIT': 'beginCommitMs',
  } as const;
  return Object.entries(names).map(([way, name]) => ({
    way,
    p50Ms: rounded(median(rounds.map(({ transactions }) => transactions[name]))),
  }));
}

function throughputRows(rounds: readonly Round[]) {
  return THROUGHPUT_WAYS.map((way) => ({
    way,
    readsPerSec: rounded(median(rounds.map(({ throughput }) => throughput[way]))),
  }));
}
