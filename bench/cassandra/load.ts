/**
 * Latency against throughput (Correctables, OSDI 2016, §6.2.1, Figure 6): YCSB's workloads A, B and
 * C, three clients that each use a remote replica, and the throughput and processor time that
 * preliminary views cost quorum reads.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { median, rounded } from '../harness/statistics.ts';
import { findPeakLoads } from '../harness/find-peak.ts';
import { versionOfEngine, versionsOf } from '../harness/provenance.ts';
import { rotate } from '../harness/rotate.ts';
import type { Site } from '../../engines/wan.ts';
import { WORKLOADS, type Workload } from '../ycsb/workload.ts';
import { COORDINATORS, openClientPool, type ClientPool } from './client-pool.ts';
import { computeGoalResults, CLIENTS, dropOf, type Sample } from './load-drops.ts';
import { comparePairs, PAIR, type Cell, type Extent } from './load-pairs.ts';
import { REPORTED, type LoadReport, type System } from './messages.ts';
import { nameOf, getReadStrategy } from './read-strategy.ts';
import { RECORDS } from './ycsb-table.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
const CURVES = ['C1', 'C2', 'CC2'] as const satisfies readonly System[];

export const cassandraLoad: Bench = {
  name: 'cassandra-load',
  about:
    'latency against throughput on Cassandra, YCSB A, B and C; what preliminary views cost of the throughput',
  takes: ['way'],
  run,
};

/** The median of the rounds of one system under one load. */
interface CurveRow extends Readonly<Record<string, unknown>> {
  readonly workload: Workload;
  readonly system: System;
  readonly inFlight: number;
  readonly opsPerSec: number;
  readonly preliminaryMs: number | null;
  readonly finalMs: number;
}

interface Plan {
  readonly loads: readonly number[];
  readonly rounds: number;
  readonly pairs: Extent;
  readonly durationMs: number;
  readonly pairMs: number;
}

/** The loads of the sweep, which ends where the throughput has fallen. */
const LOADS = [4, 16, 32, 64, 96, 128, 192, 256, 384, 512];
const FULL: Plan = {
  loads: LOADS,
  rounds: 5,
  pairs: { rounds: 15 },
  durationMs: 2_000,
  pairMs: 4_000,
};
const QUICK: Plan = {
  loads: [8, 64],
  rounds: 1,
  pairs: { rounds: 2, looks: 1 },
  durationMs: 1_500,
  pairMs: 1_500,
};
const WARM_UP_MS = 500;

async function run(settings: Settings): Promise<Outcome> {
  const { quick, progress } = settings;
  const way = getReadStrategy(settings);
  const plan = quick ? QUICK : FULL;
  const crew = await openClientPool({ sites: SITES, way }, progress);
  const sweeps: Sample[] = [];
  const pairs: Sample[] = [];
  try {
    progress('warming up');
    for (const system of new Set([...CURVES, ...PAIR])) {
      await measure(crew, { workload: 'A', system, inFlight: 32, round: 0 }, quick ? 1_000 : 8_000);
    }
    for (const workload of WORKLOADS) {
      const loads = await loadsOf(crew, workload, { plan, progress });
      const swept = await sweep(crew, workload, { plan: { ...plan, loads }, progress });
      sweeps.push(...swept);
      const reported = (text: string): void => progress(`workload ${workload}: ${text}`);
      const measured = (cell: Cell): Promise<Sample> => measure(crew, cell, plan.pairMs);
      pairs.push(
        ...(await comparePairs(
          { workload, sweep: swept },
          { ...plan.pairs, measure: measured, progress: reported },
        )),
      );
    }
  } finally {
    await crew.close();
  }
  return outcomeOf(nameOf('cassandra-load', way), plan.rounds, { sweeps, pairs });
}

/** Creates the report of the measurements. */
function outcomeOf(
  name: string,
  rounds: number,
  samples: { readonly sweeps: readonly Sample[]; readonly pairs: readonly Sample[] },
): Outcome {
  const rows = rowsOf(samples.sweeps);
  const drops = WORKLOADS.flatMap((workload) => {
    const isIts = (sample: Sample): boolean => sample.workload === workload;
    const measured = {
      workload,
      sweep: samples.sweeps.filter(isIts),
      pairs: samples.pairs.filter(isIts),
    };
    return CLIENTS.map((clients) => dropOf(measured, clients));
  });
  return {
    name,
    versions: { ...versionOfEngine('cassandra'), ...versionsOf('cassandra-driver') },
    rounds,
    rows: [
      ...rows,
      ...drops.map(({ dropOfPeaks, coordinatorTime, ...drop }) => ({
        ...drop,
        dropOfPeaks: dropOfPeaks.value,
        coordinatorTime: coordinatorTime?.value ?? null,
      })),
    ],
    bars: drops.flatMap(computeGoalResults),
    samples,
  };
}

async function measure(crew: ClientPool, cell: Cell, durationMs: number): Promise<Sample> {
  const { workload, system, inFlight, round } = cell;
  const [nodesFrom, from] = [crew.nodesUs(), performance.now()];
  const order = {
    workload,
    system,
    inFlight,
    distribution: 'zipfian',
    records: RECORDS,
    record: false,
  } as const;
  const reports = await crew.load({ ...order, durationMs, warmUpMs: WARM_UP_MS, seed: 1 + round });
  const report = reports.get(REPORTED);
  if (report === undefined) throw new Error(`the client in ${REPORTED} did not report`);
  const perSec = (item: LoadReport): number => (1000 * item.operations) / item.elapsedMs;
  const [nodesTo, tookMs] = [crew.nodesUs(), performance.now() - from];
  const totalOpsPerSec = [...reports.values()].reduce((sum, item) => sum + perSec(item), 0);
  /**
   * The processor time includes the warm-up. So the count of operations is scaled to its duration,
   * too.
   */
  const usPerOp = (site: Site): number | null => {
    const [before, after] = [nodesFrom[site] ?? null, nodesTo[site] ?? null];
    return before === null || after === null
      ? null
      : (after - before) / ((totalOpsPerSec * tookMs) / 1000);
  };
  const nodesUsPerOp = SITES.map(usPerOp);
  return {
    ...cell,
    opsPerSec: perSec(report),
    totalOpsPerSec,
    clientUsPerOp: report.cpuUs / report.operations,
    coordinatorUsPerOp: usPerOp(COORDINATORS[REPORTED]),
    nodesUsPerOp: nodesUsPerOp.includes(null)
      ? null
      : nodesUsPerOp.reduce<number>((sum, us) => sum + (us ?? 0), 0),
    preliminary: report.preliminary,
    final: report.final,
  };
}

interface Course {
  readonly plan: Plan;
  readonly progress: Settings['progress'];
}

/** Determines the end of the sweep by one short measurement at each load. */
function loadsOf(
  crew: ClientPool,
  workload: Workload,
  { plan, progress }: Course,
): Promise<number[]> {
  return findPeakLoads(plan.loads, async (inFlight) => {
    progress(`workload ${workload}: how far to go, ${inFlight} requests a client`);
    const done: number[] = [];
    for (const system of ['C2', 'CC2'] as const) {
      done.push(
        (await measure(crew, { workload, system, inFlight, round: 0 }, plan.durationMs)).opsPerSec,
      );
    }
    return done;
  });
}

/** Measures all loads and systems in every round. Each round begins with another system. */
async function sweep(
  crew: ClientPool,
  workload: Workload,
  { plan, progress }: Course,
): Promise<Sample[]> {
  const cells = plan.loads.flatMap((inFlight) =>
    CURVES.map((system) => ({ workload, system, inFlight })),
  );
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    progress(
      `workload ${workload}: round ${round + 1} of ${plan.rounds}, up to ${plan.loads.at(-1)} requests a client`,
    );
    for (const cell of rotate(cells, round * CURVES.length)) {
      samples.push(await measure(crew, { ...cell, round }, plan.durationMs));
    }
  }
  return samples;
}

function rowsOf(samples: readonly Sample[]): CurveRow[] {
  const cells = new Map<string, Sample[]>();
  for (const sample of samples) {
    const cell = `${sample.workload} ${sample.system} ${sample.inFlight}`;
    cells.set(cell, [...(cells.get(cell) ?? []), sample]);
  }
  return [...cells.values()].map((cell) => {
    const { workload, system, inFlight } = cell[0] as Sample;
    const of = (valueOf: (sample: Sample) => number | undefined): number | null => {
      const values = cell.flatMap((sample) => valueOf(sample) ?? []);
      return values.length === 0 ? null : rounded(median(values));
    };
    return {
      workload,
      system,
      inFlight,
      opsPerSec: of(({ opsPerSec }) => opsPerSec) ?? NaN,
      totalOpsPerSec: of(({ totalOpsPerSec }) => totalOpsPerSec),
      clientUsPerOp: of(({ clientUsPerOp }) => clientUsPerOp),
      coordinatorUsPerOp: of(({ coordinatorUsPerOp }) => coordinatorUsPerOp ?? undefined),
      nodesUsPerOp: of(({ nodesUsPerOp }) => nodesUsPerOp ?? undefined),
      preliminaryMs: of(({ preliminary }) => preliminary?.avgMs),
      preliminaryP99Ms: of(({ preliminary }) => preliminary?.p99Ms),
      finalMs: of(({ final }) => final?.avgMs) ?? NaN,
      finalP99Ms: of(({ final }) => final?.p99Ms),
    };
  });
}
