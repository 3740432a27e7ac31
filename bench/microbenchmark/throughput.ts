/**
 * Measures the throughput of two sites by the share of red operations (RedBlue, OSDI 2012, §8.2.2,
 * Figure 9), from few operations in flight to many. The baseline is a simulation of the paper's
 * token ring with only red operations. Its sites are as fast as the measured ones are with blue
 * operations.
 */
import { SITES } from '../../research/case-studies/sites.ts';
import { atLeast, estimate, reported, type GoalResult } from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionsOf } from '../harness/provenance.ts';
import { mean, median, pairedRatios, rounded } from '../harness/statistics.ts';
import { closedLoop } from '../load/loops.ts';
import { SERVER_FLAGS } from '../load/processes.ts';
import { startSites, toucher } from './sites.ts';
import { simulateTokenRing } from './token-ring.ts';

const PLACED = SITES.slice(0, 2);
/** The workloads, with their shares of red operations. */
const WORKLOADS = { 'all blue': 0, '30 % red': 0.3, 'all red': 1 } as const;
type Workload = keyof typeof WORKLOADS;
const NAMES = Object.keys(WORKLOADS) as readonly Workload[];
/** Operations in flight at each site. */
const WINDOWS = [16, 64, 256, 1024];
const AIM = 2;

const RING = 'all red, token ring (simulated)';
const RING_MS = 20_000;

interface Sample {
  readonly workload: string;
  /** Operations in flight at both sites together. */
  readonly underWay: number;
  readonly opsPerSecond: number;
  readonly meanMs: number;
}

export const redblueThroughput: Bench = {
  name: 'redblue-throughput',
  about: 'operations a second of two sites, by the share of red ones',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const rounds = quick ? 1 : 6;
  const durationMs = quick ? 400 : 1500;
  const taken: (readonly Sample[])[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    progress(`round ${round} of ${rounds}`);
    taken.push(await measure(round, durationMs));
  }
  const rows = rowsOf(taken.flat());
  const ring = simulated(peakOf(rows, 'all blue'));
  return {
    rounds,
    rows: [...rows, ...ring],
    bars: computeGoalResults(taken, ring),
    samples: taken,
    versions: versionsOf('ws'),
    flags: [SERVER_FLAGS],
  };
}

/** Measures all workloads under all loads. Each round begins with another workload. */
async function measure(round: number, durationMs: number): Promise<readonly Sample[]> {
  const running = await startSites(PLACED.length);
  try {
    const clients = await Promise.all(PLACED.map((place) => running.clientAt(place)));
    const first = round % NAMES.length;
    const samples: Sample[] = [];
    for (const workload of [...NAMES.slice(first), ...NAMES.slice(0, first)]) {
      const touchers = clients.map((client, at) =>
        toucher(client, round * 10 + at, (draw) => (draw < WORKLOADS[workload] ? 'red' : 'blue')),
      );
      for (const window of WINDOWS) {
        const drive = (ms: number) =>
          Promise.all(touchers.map((touch) => closedLoop(touch, window, ms)));
        await drive(durationMs / 4);
        const from = performance.now();
        const driven = await drive(durationMs);
        const seconds = (performance.now() - from) / 1000;
        samples.push({
          workload,
          underWay: window * PLACED.length,
          opsPerSecond: driven.reduce((sum, { operations }) => sum + operations, 0) / seconds,
          meanMs: mean(driven.flatMap(({ latenciesMs }) => latenciesMs)),
        });
      }
    }
    return samples;
  } finally {
    await running.close();
  }
}

/** Returns the medians of the rounds. */
function rowsOf(
  samples: readonly Sample[],
): readonly (Sample & Readonly<Record<string, unknown>>)[] {
  return NAMES.flatMap((workload) =>
    WINDOWS.map((window) => {
      const inFlight = window * PLACED.length;
      const of = samples.filter((item) => item.workload === workload && item.underWay === inFlight);
      const middle = (figure: 'opsPerSecond' | 'meanMs'): number =>
        rounded(median(of.map((item) => item[figure])));
      return {
        workload,
        underWay: inFlight,
        opsPerSecond: middle('opsPerSecond'),
        meanMs: middle('meanMs'),
      };
    }),
  );
}

/** @param opsPerSecond the throughput of both sites together */
function simulated(opsPerSecond: number): readonly (Sample & Readonly<Record<string, unknown>>)[] {
  const sites = PLACED.length;
  const ring = {
    sites,
    places: PLACED,
    thinkMs: 0,
    serviceMs: (1000 * sites) / opsPerSecond,
    durationMs: RING_MS,
  };
  return WINDOWS.map((window) => {
    const waited = simulateTokenRing({ ...ring, window });
    return {
      workload: RING,
      underWay: window * sites,
      opsPerSecond: rounded(waited.length / (RING_MS / 1000)),
      meanMs: rounded(mean(waited.map(({ ms }) => ms))),
    };
  });
}

function peakOf(samples: readonly Sample[], workload: string): number {
  return Math.max(
    ...samples.filter((item) => item.workload === workload).map(({ opsPerSecond }) => opsPerSecond),
  );
}

function computeGoalResults(
  rounds: readonly (readonly Sample[])[],
  ring: readonly Sample[],
): readonly GoalResult[] {
  const peaks = (workload: Workload): number[] =>
    rounds.map((samples) => peakOf(samples, workload));
  const [blue, mixed, red] = NAMES.map(peaks) as [number[], number[], number[]];
  const simulated = red.map(() => peakOf(ring, RING));
  return [
    atLeast('all-blue-vs-all-red', estimate(pairedRatios(blue, red)), { aim: AIM }),
    reported('all-blue-vs-mixed', estimate(pairedRatios(blue, mixed))),
    reported('all-red-vs-simulated-token-ring', estimate(pairedRatios(red, simulated))),
    reported('all-blue-rate', estimate(blue), 'operations/s'),
    reported('all-red-rate', estimate(red), 'operations/s'),
  ];
}
