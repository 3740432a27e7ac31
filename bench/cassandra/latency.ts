/**
 * Single-request latency (Correctables, OSDI 2016, §6.2.1, Figure 5): reads of 100 bytes by a
 * client 20 ms away from its coordinator, for each quorum, with a preliminary view and without.
 * Baseline: plain reads through `cassandra-driver`.
 */
import { limitTime, estimate, largest, type GoalResult, type Estimate } from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { rounded, spread } from '../harness/statistics.ts';
import { checkDelay, checkViews } from '../harness/preconditions.ts';
import { LOOKS, runAdaptiveRounds, type Course } from '../harness/adaptive-rounds.ts';
import { versionOfEngine, versionsOf } from '../harness/provenance.ts';
import { openClientPool, type ClientPool } from './client-pool.ts';
import { REPORTED, type System, type TurnsReport } from './messages.ts';
import { nameOf, getReadStrategy } from './read-strategy.ts';

const PLAIN = ['driver C1', 'driver C2', 'driver C3'] as const satisfies readonly System[];
const INCREMENTAL = ['CC2', 'CC3'] as const satisfies readonly System[];
const SYSTEMS = [...PLAIN, ...INCREMENTAL];
/**
 * The goal: at most this multiple of the round trip to the coordinator or of the baseline,
 * whichever is longer.
 */
const AIM = 1.05;
const ROUND_TRIP_MS = 20;
/**
 * The round trips: from Ireland to Frankfurt, from there to the nearest other replica, and to the
 * farthest one.
 */
const WAYS_MS = { 'driver C1': ROUND_TRIP_MS, 'driver C2': 40, 'driver C3': 110 } as const;

export const cassandraLatency: Bench = {
  name: 'cassandra-latency',
  about:
    'single reads on Cassandra: preliminary and final views beside plain reads of one, two and three replicas',
  takes: ['way'],
  run,
};

async function run(settings: Settings): Promise<Outcome> {
  const { quick, progress } = settings;
  const way = getReadStrategy(settings);
  const extent: Extent = quick ? { rounds: 2, looks: 1, turns: 10 } : { rounds: 7, turns: 60 };
  const crew = await openClientPool({ sites: [REPORTED], way }, progress);
  let samples: readonly TurnsReport[];
  try {
    await crew.takeTurns({ systems: SYSTEMS, turns: 10 });
    samples = await takeRounds(crew, extent, progress);
  } finally {
    await crew.close();
  }
  const rows = rowsOf(samples);
  const name = nameOf('cassandra-latency', way);
  return {
    name,
    versions: { ...versionOfEngine('cassandra'), ...versionsOf('cassandra-driver') },
    rounds: samples.length,
    rows,
    bars: computeGoalResults(samples),
    samples,
  };
}

interface Extent extends Pick<Course<TurnsReport>, 'rounds' | 'looks'> {
  /** Reads of each system in a round. */
  readonly turns: number;
}

/**
 * Takes rounds of reads of each system in turn, and again as many while the comparison with plain
 * reads is undecided.
 *
 * @throws Error if reads lack preliminary views, or plain reads take less than the round trip
 */
export function takeRounds(
  crew: Pick<ClientPool, 'takeTurns'>,
  { turns, ...course }: Extent,
  progress: Settings['progress'],
): Promise<readonly TurnsReport[]> {
  const round = async (_round: number, of: string): Promise<TurnsReport> => {
    progress(`${of}: ${turns} reads of each system, by turns`);
    const report = await crew.takeTurns({ systems: SYSTEMS, turns });
    checkTurns(report);
    return report;
  };
  return runAdaptiveRounds(round, { ...course, computeGoalResults });
}

/**
 * Checks that enough reads have a preliminary view. Otherwise the mean would cover only the fast
 * ones.
 */
function checkTurns(report: TurnsReport): void {
  for (const system of INCREMENTAL) {
    const reads = report[system] ?? [];
    const views = reads.filter(({ preliminaryMs }) => preliminaryMs !== null).length;
    checkViews(system, { views, of: reads.length });
  }
  for (const system of PLAIN) {
    const ms = mean((report[system] ?? []).map(({ finalMs }) => finalMs));
    checkDelay(system, { ms, atLeastMs: WAYS_MS[system] });
  }
}

interface Row extends Readonly<Record<string, unknown>> {
  readonly system: System;
  readonly view: 'only' | 'preliminary' | 'final';
  readonly avgMs: number;
  readonly avgMsMin: number;
  readonly avgMsMax: number;
  readonly p99Ms: number;
}

function rowsOf(samples: readonly TurnsReport[]): Row[] {
  const row = (system: System, view: Row['view'], valueOf: (read: Read) => number | null): Row => {
    const values = samples.map((round) =>
      (round[system] ?? []).flatMap((read) => valueOf(read) ?? []),
    );
    const all = values.flat().sort((a, b) => a - b);
    const { min, max } = spread(values.map(mean));
    return {
      system,
      view,
      avgMs: rounded(mean(all)),
      avgMsMin: rounded(min),
      avgMsMax: rounded(max),
      p99Ms: rounded(all[Math.ceil(0.99 * all.length) - 1] as number),
      reads: all.length,
    };
  };
  return [
    ...PLAIN.map((system) => row(system, 'only', ({ finalMs }) => finalMs)),
    ...INCREMENTAL.flatMap((system) => [
      row(system, 'preliminary', ({ preliminaryMs }) => preliminaryMs),
      row(system, 'final', ({ finalMs }) => finalMs),
    ]),
  ];
}

interface Read {
  readonly preliminaryMs: number | null;
  readonly finalMs: number;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function computeGoalResults(rounds: readonly TurnsReport[]): GoalResult[] {
  const avgMs = (round: TurnsReport, system: System, view: keyof Read): number =>
    mean((round[system] ?? []).flatMap((read) => read[view] ?? []));
  const versus = (system: System, view: keyof Read, baseline: System): Estimate =>
    estimate(
      rounds.map((round) => {
        const baselineMs = avgMs(round, baseline, 'finalMs');
        return 1 + (avgMs(round, system, view) - baselineMs) / Math.max(baselineMs, ROUND_TRIP_MS);
      }),
      LOOKS,
    );
  const preliminaries = INCREMENTAL.map((system) => versus(system, 'preliminaryMs', 'driver C1'));
  return [
    limitTime('prelim-vs-c1', largest(preliminaries), { aim: AIM }),
    limitTime('final-vs-c2', versus('CC2', 'finalMs', 'driver C2'), { aim: AIM }),
    limitTime('final-vs-c3', versus('CC3', 'finalMs', 'driver C3'), { aim: AIM }),
  ];
}
