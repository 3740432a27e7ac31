/**
 * What speculation is worth to an application that chases references, and what it costs (Correctables, OSDI 2016,
 * Figure 11): latency beside what perfect speculation would give, and throughput where the machine has no more.
 */
import { contend } from '../../demo/shared/chase/contend.ts';
import { writeHistory, type Deploy, type Deployment } from '../../demo/shared/chase/headless.ts';
import { compare, type Comparison } from '../../demo/shared/chase/report.ts';
import type { HistoryLine } from '../../demo/shared/chase/request.ts';
import type { Site } from '../../demo/shared/options.ts';
import { atLeast, atMost, type Bar, type Bench, type Outcome, type Settings } from '../harness/bench.ts';
import { median, rounded } from '../harness/statistics.ts';
import { curvesFigure, latencyFigure } from './figures.ts';
import { labelOf, planOf, UNLOADED_WORKERS, type Measured, type Plan, type Setting } from './settings.ts';

export interface ChaseBench {
  readonly name: string;
  readonly about: string;
  /** Titles of the plots begin with it. */
  readonly title: string;
  readonly deploy: Deploy;
}

const AIMS = { vsPossible: 0.9, colocated: 0.4, throughput: -0.06, wrongDeliveries: 0 } as const;
const SEED = 1;

/** A benchmark of an application; its figures and bars are named after it. */
export function chaseBench({ name, about, title, deploy }: ChaseBench): Bench {
  const run = async (settings: Settings): Promise<Outcome> => {
    const plan = planOf(settings.quick);
    const history: HistoryLine[] = [];
    const measured = await measure(plan, deploy, { progress: settings.progress, history });
    if (settings.history !== undefined) await writeHistory(settings.history, history);
    return {
      rounds: plan.rounds,
      rows: measured.map(rowOf),
      bars: barsOf(name, measured),
      samples: measured,
      figures: { [name]: latencyFigure(title, measured), [`${name}-throughput`]: curvesFigure(title, measured) },
    };
  };
  return { name, about, run };
}

interface Output {
  readonly progress: (text: string) => void;
  readonly history: HistoryLine[];
}

async function measure(plan: Plan, deploy: Deploy, output: Output): Promise<Measured[]> {
  const measured = plan.settings.map((setting) => ({ ...setting, rounds: [] as Comparison[] }));
  for (const client of new Set(plan.settings.map((setting) => setting.client))) {
    const deployment = await deploy({ scale: plan.scale, seed: SEED, client, wan: 'paper' }, output.progress);
    try {
      const here = measured.filter((setting) => setting.client === client);
      for (let round = 0; round < plan.rounds; round += 1) await runRound(deployment, here, { plan, round, output });
    } finally {
      await deployment.close();
    }
  }
  return measured;
}

interface Round {
  readonly plan: Plan;
  readonly round: number;
  readonly output: Output;
}

/** All settings once, each round beginning with another one. */
async function runRound(
  { application }: Deployment,
  settings: readonly (Setting & { readonly rounds: Comparison[] })[],
  { plan, round, output }: Round,
): Promise<void> {
  const first = round % settings.length;
  for (const setting of [...settings.slice(first), ...settings.slice(0, first)]) {
    output.progress(`round ${round + 1} of ${plan.rounds}: ${labelOf(setting)}`);
    const { workload, workers } = setting;
    const contest = await contend({
      application,
      workload,
      workers,
      seconds: plan.secondsPerSetting,
      seed: SEED + round,
      warmUpPairs: round === 0 ? 2 : 1,
    });
    setting.rounds.push(compare(contest));
    for (const line of contest.history) {
      output.history.push({ ...line, request: `${labelOf(setting)}, round ${round + 1}, ${line.request}` });
    }
  }
}

function rowOf({ rounds, client, workload, workers }: Measured): Record<string, unknown> {
  const of = (value: (comparison: Comparison) => number): number => rounded(median(rounds.map(value)));
  const range = (value: (comparison: Comparison) => number): string => {
    const values = rounds.map(value);
    return `${rounded(Math.min(...values))} … ${rounded(Math.max(...values))}`;
  };
  return {
    client,
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
    divergence: of(({ divergence }) => divergence),
    wrongDeliveries: rounds.reduce((sum, { wrongDeliveries }) => sum + wrongDeliveries, 0),
  };
}

/** Each bar is that of the worst setting that it is about. */
function barsOf(name: string, measured: readonly Measured[]): Bar[] {
  const unloaded = measured.filter(({ workers }) => workers === UNLOADED_WORKERS);
  const colocated = unloaded.filter(({ client }) => client === ('frk' satisfies Site));
  const worst = (settings: readonly Measured[], value: (comparison: Comparison) => number): number =>
    rounded(Math.min(...settings.map(({ rounds }) => median(rounds.map(value)))));
  const wrong = measured.flatMap(({ rounds }) => rounds).reduce((sum, round) => sum + round.wrongDeliveries, 0);
  return [
    atLeast(`${name}-reduction-vs-possible`, worst(unloaded, vsPossible), AIMS.vsPossible, 'fraction'),
    atLeast(
      `${name}-reduction-colocated`,
      worst(colocated, ({ latencyReduction }) => latencyReduction),
      AIMS.colocated,
      'fraction',
    ),
    atLeast('throughput-change', rounded(peakChange(measured)), AIMS.throughput, 'fraction'),
    atMost('wrong-deliveries', wrong, AIMS.wrongDeliveries, 'requests'),
  ];
}

function vsPossible({ latencyReduction, possibleReduction }: Comparison): number {
  return latencyReduction / possibleReduction;
}

/** The change of the peak throughput over all loads: the median of the rounds, of the workload that loses most. */
function peakChange(measured: readonly Measured[]): number {
  const sweeps = new Map<string, Measured[]>();
  for (const setting of measured.filter(({ client }) => client === ('frk' satisfies Site))) {
    sweeps.set(setting.workload, [...(sweeps.get(setting.workload) ?? []), setting]);
  }
  const changes = [...sweeps.values()].map((sweep) => {
    const rounds = (sweep[0] as Measured).rounds.keys();
    const peak = (way: 'baseline' | 'correctable', round: number): number =>
      Math.max(...sweep.map((setting) => (setting.rounds[round] as Comparison)[way].opsPerSec));
    return median([...rounds].map((round) => peak('correctable', round) / peak('baseline', round) - 1));
  });
  return Math.min(...changes);
}
