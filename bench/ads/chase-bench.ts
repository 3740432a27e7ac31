/**
 * What speculation is worth to an application that chases references, and what it costs (Correctables, OSDI 2016,
 * Figure 11): latency beside what perfect speculation would give, and throughput where the machine has no more.
 */
import { contend } from '../../demo/shared/chase/contend.ts';
import { writeHistory, type Deploy, type Deployment } from '../../demo/shared/chase/headless.ts';
import { compare, type Comparison } from '../../demo/shared/chase/report.ts';
import type { HistoryLine } from '../../demo/shared/chase/request.ts';
import { BINDINGS } from '../../demo/shared/options.ts';
import type { Placement } from '../../engines/wan.ts';
import { UsageError } from '../../demo/usage-error.ts';
import { nameOf, wayOf, type Way } from '../cassandra/way.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { median, rounded } from '../harness/statistics.ts';
import { versionOfEngine, versionsOf } from '../harness/provenance.ts';
import { barsOf, vsPossible } from './bars.ts';
import { curvesFigure, latencyFigure } from './figures.ts';
import { labelOf, peaksOf, placeOf, planOf, type Measured, type Plan } from './settings.ts';

export interface ChaseBench {
  readonly name: string;
  readonly about: string;
  /** Titles of the plots begin with it. */
  readonly title: string;
  /** Where the paper has its nodes. */
  readonly placement: Placement;
  readonly deploy: Deploy;
}

const SEED = 1;

/** A benchmark of an application; its figures and bars are named after it. */
export function chaseBench({ name, about, title, placement, deploy }: ChaseBench): Bench {
  const run = async (settings: Settings): Promise<Outcome> => {
    const way = storeOf(settings);
    const plan = planOf(settings.quick, { placement, way });
    const history: HistoryLine[] = [];
    const measured = await measure(plan, deploy, { progress: settings.progress, history });
    if (settings.history !== undefined) await writeHistory(settings.history, history);
    const file = way === undefined ? name : nameOf(`${name}-cassandra`, way);
    const heading = way === undefined ? title : `${title} on Cassandra`;
    return {
      name: file,
      versions: way === undefined ? {} : { ...versionOfEngine('cassandra'), ...versionsOf('cassandra-driver') },
      rounds: plan.rounds,
      rows: measured.map(rowOf),
      bars: barsOf(name, measured),
      samples: measured,
      figures: { [file]: latencyFigure(heading, measured), [`${file}-throughput`]: curvesFigure(heading, measured) },
    };
  };
  return { name, about, run };
}

/** The way to Cassandra; undefined where RedBlue is the store. @throws UsageError for what there is not */
function storeOf(settings: Settings): Way | undefined {
  const { binding = 'redblue' } = settings;
  if (binding === 'redblue') return undefined;
  if (binding === 'cassandra') return wayOf(settings);
  throw new UsageError(`--binding takes one of ${BINDINGS.join(', ')}, not "${binding}"`);
}

interface Output {
  readonly progress: (text: string) => void;
  readonly history: HistoryLine[];
}

/** A setting while it is measured. */
interface Measuring extends Measured {
  readonly rounds: Comparison[];
  readonly atPeak: Comparison[];
}

async function measure(plan: Plan, deploy: Deploy, output: Output): Promise<Measured[]> {
  const measured = plan.settings.map((setting): Measuring => ({ ...setting, rounds: [], atPeak: [] }));
  const places = new Map(plan.settings.map((setting) => [placeOf(setting), setting]));
  for (const [place, { placement, client, cassandra }] of places) {
    const options = { scale: plan.scale, seed: SEED, client, wan: 'paper', placement, cassandra } as const;
    const deployment = await deploy(options, output.progress);
    try {
      const here = measured.filter((setting) => placeOf(setting) === place);
      await measureHere(deployment, here, plan, output);
    } finally {
      await deployment.close();
    }
  }
  return measured;
}

/** All settings of a place in interleaved rounds, then those where a workload peaks in longer ones. */
async function measureHere(
  deployment: Deployment,
  here: readonly Measuring[],
  plan: Plan,
  output: Output,
): Promise<void> {
  const { rounds, secondsPerSetting: seconds, peak } = plan;
  await runRounds(deployment, here, {
    about: 'round',
    rounds,
    seconds,
    warmUpPairs: (round) => (round === 0 ? 2 : 1),
    keep: (setting, comparison) => setting.rounds.push(comparison),
    output,
  });
  await runRounds(deployment, peaksOf(here), {
    about: 'at the peak, round',
    ...peak,
    warmUpPairs: () => 1,
    keep: (setting, comparison) => setting.atPeak.push(comparison),
    output,
  });
}

interface Rounds {
  readonly about: string;
  readonly rounds: number;
  /** How long each setting is measured in a round. */
  readonly seconds: number;
  readonly sliceMs?: number | undefined;
  readonly warmUpPairs: (round: number) => number;
  readonly keep: (setting: Measuring, comparison: Comparison) => void;
  readonly output: Output;
}

/** All settings once a round, each round beginning with another one. */
async function runRounds(
  { application }: Deployment,
  settings: readonly Measuring[],
  { about, rounds, seconds, sliceMs, warmUpPairs, keep, output }: Rounds,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const first = round % settings.length;
    for (const setting of [...settings.slice(first), ...settings.slice(0, first)]) {
      const where = `${labelOf(setting)}, ${about} ${round + 1}`;
      output.progress(`${about} ${round + 1} of ${rounds}: ${labelOf(setting)}`);
      const { workload, workers } = setting;
      const contest = await contend({
        application,
        workload,
        workers,
        seconds,
        sliceMs,
        seed: SEED + round,
        warmUpPairs: warmUpPairs(round),
      });
      keep(setting, compare(contest));
      for (const line of contest.history) output.history.push({ ...line, request: `${where}, ${line.request}` });
    }
  }
}

function rowOf({ rounds, atPeak, placement, client, cassandra, workload, workers }: Measured): Record<string, unknown> {
  const of = (value: (comparison: Comparison) => number, comparisons = rounds): number =>
    rounded(median(comparisons.map(value)));
  const range = (value: (comparison: Comparison) => number, comparisons = rounds): string => {
    const values = comparisons.map(value);
    return `${rounded(Math.min(...values))} … ${rounded(Math.max(...values))}`;
  };
  return {
    placement,
    client,
    ...(cassandra !== undefined && { coordinator: cassandra.coordinator, readQuorum: cassandra.readQuorum }),
    workload,
    workers,
    P: of(({ P }) => P),
    F: of(({ F }) => F),
    t: of(({ t }) => t),
    baselineMs: of(({ baseline }) => baseline.avgMs),
    correctableMs: of(({ correctable }) => correctable.avgMs),
    latencyReduction: of(({ latencyReduction }) => latencyReduction),
    latencyReductionRange: range(({ latencyReduction }) => latencyReduction),
    possibleReduction: of(({ possibleReduction }) => possibleReduction),
    vsPossible: of(vsPossible),
    baselineOpsPerSec: of(({ baseline }) => baseline.opsPerSec),
    correctableOpsPerSec: of(({ correctable }) => correctable.opsPerSec),
    throughputChange: of(({ throughputChange }) => throughputChange),
    throughputChangeRange: range(({ throughputChange }) => throughputChange),
    ...(atPeak.length > 0 && {
      changeAtPeak: of(({ throughputChange }) => throughputChange, atPeak),
      changeAtPeakRange: range(({ throughputChange }) => throughputChange, atPeak),
    }),
    divergence: of(({ divergence }) => divergence),
    wrongDeliveries: [...rounds, ...atPeak].reduce((sum, { wrongDeliveries }) => sum + wrongDeliveries, 0),
  };
}
