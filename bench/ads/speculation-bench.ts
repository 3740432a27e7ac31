/**
 * Measures the gain and the cost of speculation for an application that follows references
 * (Correctables, OSDI 2016, Figure 11). It compares the latency with that of perfect speculation,
 * the throughput at both peaks, and the latency at equal rates.
 */
import { runAbComparison } from '../../demo/shared/speculation/ab-comparison.ts';
import { WAYS } from '../../demo/shared/speculation/application.ts';
import { warmUp, type Deploy, type Deployment } from '../../demo/shared/speculation/headless.ts';
import { openHistory, type HistoryFile } from '../../demo/shared/speculation/history-file.ts';
import { compare } from '../../demo/shared/speculation/report.ts';
import { BINDINGS } from '../../demo/shared/options.ts';
import type { Placement } from '../../engines/wan.ts';
import { readPostgresVersion } from '../../engines/postgres/programs.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { nameOf, getReadStrategy, type ReadStrategy } from '../cassandra/read-strategy.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { median } from '../harness/statistics.ts';
import { findPeakLoads } from '../harness/find-peak.ts';
import { versionOfEngine, versionsOf } from '../harness/provenance.ts';
import { computeGoalResults } from './goals.ts';
import { runOpenLoop } from './open-loop.ts';
import { formatOpenPeaks, isKnownPeak, peakOf, sweepsOf } from './peaks.ts';
import { measureRounds, type Contest, type Measuring } from './rounds.ts';
import { offersOf, peakRowsOf, rowOf } from './rows.ts';
import { isSwept, labelOf, placeOf, planOf, type Measured, type Plan } from './settings.ts';

export interface SpeculationBench {
  readonly name: string;
  readonly about: string;
  /** Where the paper has its nodes. */
  readonly placement: Placement;
  readonly deploy: Deploy;
}

const SEED = 1;

/**
 * Creates the benchmark of an application. Its figures and bars have the name of the application.
 */
export function createSpeculationBench({
  name,
  about,
  placement,
  deploy,
}: SpeculationBench): Bench {
  const run = async (settings: Settings): Promise<Outcome> => {
    const store = storeOf(settings);
    if (store.binding === 'postgres' && placement !== 'paper')
      throw new UsageError(`${name} does not run on postgres: the placement is another one`);
    const { way } = store;
    const plan = planOf(settings.quick, { placement, ...store });
    const measured = await measureAndTell(plan, deploy, settings);
    for (const reported of formatOpenPeaks(measured)) settings.progress(reported);
    const ownName = store.binding === 'postgres' ? `${name}-postgres` : name;
    const file = way === undefined ? ownName : nameOf(`${name}-cassandra`, way);
    return {
      name: file,
      versions: await readVersions(store),
      rounds: Math.max(...measured.map(({ rounds }) => rounds.length)),
      rows: [
        ...measured.map((item) => rowOf(item, isKnownPeak(item, measured))),
        ...measured.flatMap(offersOf),
        ...peakRowsOf(measured),
      ],
      bars: computeGoalResults(name, measured),
      samples: measured,
    };
  };
  return { name, about, takes: ['binding', 'way', 'history'], run };
}

/** The store. With neither of the two, it is RedBlue. */
interface Store {
  readonly binding?: 'postgres';
  /** The read strategy for Cassandra. */
  readonly way?: ReadStrategy;
}

/** @throws UsageError for an unknown store or strategy */
function storeOf(settings: Settings): Store {
  const { binding = 'redblue' } = settings;
  if (binding === 'redblue') return {};
  if (binding === 'postgres') return { binding };
  if (binding === 'cassandra') return { way: getReadStrategy(settings) };
  throw new UsageError(`--binding takes one of ${BINDINGS.join(', ')}, not "${binding}"`);
}

async function readVersions({ binding, way }: Store): Promise<Record<string, string>> {
  if (binding === 'postgres') return { postgres: await readPostgresVersion(), ...versionsOf('pg') };
  return way === undefined
    ? {}
    : { ...versionOfEngine('cassandra'), ...versionsOf('cassandra-driver') };
}

interface Output {
  readonly progress: (text: string) => void;
  readonly history: HistoryFile;
}

/** Measures, and writes each request to the history file if one was requested. */
async function measureAndTell(plan: Plan, deploy: Deploy, settings: Settings): Promise<Measured[]> {
  const history = openHistory(settings.history);
  try {
    return await measure(plan, deploy, { progress: settings.progress, history });
  } finally {
    await history.close();
  }
}

async function measure(plan: Plan, deploy: Deploy, output: Output): Promise<Measured[]> {
  const measured = plan.settings.map((setting): Measuring => ({
    ...setting,
    rounds: [],
    atPeak: [],
    offered: [],
  }));
  const places = new Map(plan.settings.map((setting) => [placeOf(setting), setting]));
  for (const [place, { placement, client, asks, cassandra, binding }] of places) {
    const options = {
      scale: plan.scale,
      seed: SEED,
      client,
      asks,
      wan: 'paper',
      placement,
      cassandra,
      binding,
    } as const;
    const deployment = await deploy(options, output.progress);
    try {
      const here = measured.filter((setting) => placeOf(setting) === place);
      if (cassandra !== undefined)
        await warmUp(deployment, { ...plan.warmUp, seed: SEED }, output.progress);
      await measureHere(deployment, here, plan, output);
    } finally {
      await deployment.close();
    }
  }
  return measured.filter(({ rounds }) => rounds.length > 0);
}

/**
 * Measures all settings of a place in interleaved rounds, those at a peak in longer ones, and then
 * both ways at equal rates.
 */
async function measureHere(
  deployment: Deployment,
  here: readonly Measuring[],
  plan: Plan,
  output: Output,
): Promise<void> {
  const retained = await untilFall(deployment, here, plan, output);
  const contest: Contest = async (setting, { of, round, ...extent }) => {
    const where = `${labelOf(setting)}, ${of}`;
    output.progress(where);
    const { workload, workers } = setting;
    const { application } = deployment;
    const contested = await runAbComparison({
      application,
      workload,
      workers,
      seed: SEED + round,
      ...extent,
    });
    for (const line of contested.history)
      output.history.write({ ...line, request: `${where}, ${line.request}` });
    return compare(contested);
  };
  await measureRounds(retained, plan, contest);
  for (const swept of sweepsOf(retained)) await runOffers(deployment, swept, plan, output);
}

/**
 * Drops the loads beyond the first one at which the throughput has fallen both with and without
 * speculation.
 */
async function untilFall(
  { application }: Deployment,
  here: readonly Measuring[],
  { peak: { seconds, sliceMs } }: Plan,
  output: Output,
): Promise<readonly Measuring[]> {
  const swept = here.filter(isSwept);
  const ends = new Map<string, number>();
  for (const workload of new Set(swept.map((item) => item.workload))) {
    const loads = swept.filter((item) => item.workload === workload).map(({ workers }) => workers);
    const tried = await findPeakLoads(loads, async (workers) => {
      output.progress(`workload ${workload}: how far to go, ${workers} at a time`);
      const options = {
        application,
        workload,
        workers,
        seconds,
        sliceMs,
        seed: SEED,
        warmUpPairs: 1,
      };
      const { baseline, correctable } = compare(await runAbComparison(options));
      return [baseline.opsPerSec, correctable.opsPerSec];
    });
    ends.set(workload, Math.max(...tried));
  }
  return here.filter((item) => !isSwept(item) || item.workers <= (ends.get(item.workload) ?? 0));
}

/** Measures both contenders at shares of the rate that the slower one reaches at its peak. */
async function runOffers(
  { application }: Deployment,
  swept: readonly Measuring[],
  { offers }: Plan,
  output: Output,
): Promise<void> {
  const peaks = WAYS.map((way) => peakOf(swept, way));
  const reached = WAYS.map((way, n) =>
    median((peaks[n] as Measuring).atPeak.map((round) => round[way].opsPerSec)),
  );
  const { workload, offered } = peaks[0] as Measuring;
  for (let round = 0; round < offers.rounds; round += 1) {
    for (const share of offers.shares) {
      const perSecond = share * Math.min(...reached);
      output.progress(
        `workload ${workload}, round ${round + 1} of ${offers.rounds}: ${perSecond.toFixed(0)} a second`,
      );
      const where = `${workload}, ${perSecond.toFixed(0)} a second, round ${round + 1}`;
      const item = await runOpenLoop({
        application,
        workload,
        share,
        perSecond,
        durationMs: 1000 * offers.seconds,
        seed: SEED + round,
        first: WAYS[round % WAYS.length] ?? 'baseline',
        onLine: (line) =>
          output.history.write({ ...line, atMs: 0, request: `${where}, ${line.request}` }),
      });
      offered.push(item);
    }
  }
}
