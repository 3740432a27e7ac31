/**
 * Measures how often preliminary views differ from final ones (Correctables, OSDI 2016, §6.2.1,
 * Figure 7): 1000 records, three clients at work, updates at one replica. Also counts stale final
 * views in the same history, which this consistency allows.
 */
import { writeFileSync } from 'node:fs';
import { estimate, reported, type GoalResult } from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { rounded, spread } from '../harness/statistics.ts';
import { versionOfEngine, versionsOf } from '../harness/provenance.ts';
import { DISTRIBUTIONS, type Distribution } from '../ycsb/choosers.ts';
import type { Workload } from '../ycsb/workload.ts';
import { openClientPool } from './client-pool.ts';
import { count, type HistoryEvent } from './history.ts';
import { nameOf, getReadStrategy } from './read-strategy.ts';
import { RECORDS } from './ycsb-table.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
const WORKLOADS = ['A', 'B'] as const satisfies readonly Workload[];
/** Requests of each client in flight at a time. */
const IN_FLIGHT = 48;

export const cassandraDivergence: Bench = {
  name: 'cassandra-divergence',
  about:
    'how often preliminary views on Cassandra differ from the final ones, by workload; stale finals at W = 1',
  takes: ['way', 'history'],
  run,
};

export interface Mix {
  readonly workload: Workload;
  readonly distribution: Distribution;
}

export const MIXES: readonly Mix[] = WORKLOADS.flatMap((workload) =>
  DISTRIBUTIONS.map((distribution) => ({ workload, distribution })),
);

export interface Sample extends Mix {
  readonly round: number;
  readonly reads: number;
  readonly divergence: number;
  readonly opsPerSec: number;
}

async function run(settings: Settings): Promise<Outcome> {
  const { quick, progress } = settings;
  const way = getReadStrategy(settings);
  const [rounds, durationMs, warmUpMs] = quick ? [2, 2_000, 500] : [6, 8_000, 2_000];
  const crew = await openClientPool({ sites: SITES, way }, progress);
  const samples: Sample[] = [];
  const history: HistoryEvent[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (let place = 0; place < MIXES.length; place += 1) {
        const mix = MIXES[(place + round) % MIXES.length] as Mix;
        progress(`round ${round + 1} of ${rounds}: workload ${mix.workload}, ${mix.distribution}`);
        const order = {
          ...mix,
          system: 'CC2',
          inFlight: IN_FLIGHT,
          records: RECORDS,
          record: true,
        } as const;
        const reports = await crew.load({ ...order, durationMs, warmUpMs, seed: 1 + round });
        const events = [...reports.values()].flatMap((report) => report.history);
        for (const event of events) history.push(event);
        const { preliminaries, diverged } = count(events);
        const opsPerSec = [...reports.values()].reduce(
          (sum, item) => sum + (item.operations / item.elapsedMs) * 1000,
          0,
        );
        samples.push({
          ...mix,
          round,
          reads: preliminaries,
          divergence: diverged / preliminaries,
          opsPerSec,
        });
      }
    }
  } finally {
    await crew.close();
  }
  if (settings.history !== undefined) {
    writeFileSync(settings.history, history.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }
  const rows = MIXES.map((mix) => rowOf(mix, samples));
  const name = nameOf('cassandra-divergence', way);
  return {
    name,
    versions: { ...versionOfEngine('cassandra'), ...versionsOf('cassandra-driver') },
    rounds,
    rows,
    bars: computeGoalResults(samples, history),
    samples,
  };
}

function rowOf({ workload, distribution }: Mix, samples: readonly Sample[]) {
  const own = samplesOf({ workload, distribution }, samples);
  const { median, min, max } = spread(own.map(({ divergence }) => divergence));
  return {
    workload,
    distribution,
    divergence: rounded(median),
    divergenceMin: rounded(min),
    divergenceMax: rounded(max),
    reads: own.reduce((sum, { reads }) => sum + reads, 0),
    opsPerSec: Math.round(spread(own.map(({ opsPerSec }) => opsPerSec)).median),
  };
}

function samplesOf({ workload, distribution }: Mix, samples: readonly Sample[]): Sample[] {
  return samples.filter(
    (sample) => sample.workload === workload && sample.distribution === distribution,
  );
}

/** Computes the shares by the rounds. Stale views are counted in the whole history. */
export function computeGoalResults(
  samples: readonly Sample[],
  history: readonly HistoryEvent[],
): GoalResult[] {
  const { reads, staleFinals, stalePreliminaries } = count(history);
  const divergences = MIXES.map((mix) => {
    const shares = samplesOf(mix, samples).map(({ divergence }) => divergence);
    return reported(`divergence-${mix.workload}-${mix.distribution}`, estimate(shares), 'fraction');
  });
  return [
    ...divergences,
    reported('stale-finals', staleFinals, 'reads'),
    reported('stale-finals-share', rounded(staleFinals / reads), 'fraction'),
    reported('stale-preliminaries', stalePreliminaries, 'reads'),
  ];
}
