/**
 * Compares the causal store with CC-LO, the "latency-optimal" design (Didona and others, VLDB
 * 2018). It counts what a put costs with a growing number of clients. It computes latency against
 * throughput by a queueing model, with service times that are measured here.
 */
import { loadavg } from 'node:os';
import { runAdaptiveRounds } from '../harness/adaptive-rounds.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionsOf } from '../harness/provenance.ts';
import { rounded } from '../harness/statistics.ts';
import { measureServiceTimes } from './calibration.ts';
import { runChecked } from './systems/checked-run.ts';
import {
  runClosedLoop,
  SYSTEMS,
  type LoopOptions,
  type SystemName,
} from './systems/closed-loop.ts';
import { computeGoalResults, computeRoundGoals, type Checked, type Round } from './goals.ts';
import { measurePutCost } from './put-cost.ts';
import { createRow, findClientsFor, findPeak, type Row } from './rows.ts';
import type { ServiceTimes } from './systems/service-times.ts';
import {
  FEW_CLIENTS,
  KEYS_OF_PARTITION,
  listCurves,
  MANY_CLIENTS,
  type Curve,
} from './settings.ts';
import { createRankChooser, DEFAULT_WORKLOAD, type RankChooser } from './systems/workload.ts';

export const causal: Bench = {
  name: 'causal',
  about: 'the causal store beside CC-LO, whose reads take one round and whose writes pay for it',
  run,
};

/** The values that are the same in all runs. */
interface Context extends Pick<Settings, 'quick' | 'progress'> {
  readonly times: ServiceTimes;
  getChooser(skew: number): RankChooser;
}

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const getChooser = rememberChoosers();
  progress('service times');
  const times = await measureServiceTimes({ chooseRank: getChooser(DEFAULT_WORKLOAD.skew), quick });
  const context = { quick, progress, times, getChooser };
  const checked = checkSystems(context);
  const rows = listCurves(quick).flatMap((curve) => runCurve(context, curve));
  const rounds = await runAdaptiveRounds(
    async (round, of) => measureRound(context, { round, of, rows }),
    {
      ...(quick ? { rounds: 1, looks: 1 } : { rounds: 7 }),
      computeGoalResults: computeRoundGoals,
    },
  );
  return {
    rounds: rounds.length,
    rows: rows.map((row) => ({ ...row })),
    bars: quick ? computeRoundGoals(rounds) : computeGoalResults({ rows, rounds, checked }),
    samples: { rows, rounds, checked, times, load: loadavg().map(rounded) },
    versions: versionsOf('msgpackr'),
  };
}

function rememberChoosers(): (skew: number) => RankChooser {
  const known = new Map<number, RankChooser>();
  return (skew) => {
    const chooser = known.get(skew) ?? createRankChooser(KEYS_OF_PARTITION, skew);
    known.set(skew, chooser);
    return chooser;
  };
}

function checkSystems({ quick, progress }: Context): readonly Checked[] {
  progress('the checker of causality');
  return SYSTEMS.flatMap((system) =>
    [1, 3].map((sites) => {
      const runs = Array.from({ length: quick ? 1 : 10 }, (_, seed) => [
        runChecked({ system, siteCount: sites, seed }),
        // Check reads that take longer than CC-LO keeps their ids.
        ...(system === 'cc-lo'
          ? [runChecked({ system, siteCount: sites, seed, delayMs: 200 })]
          : []),
      ]).flat();
      const count = (of: (result: (typeof runs)[number]) => number): number =>
        runs.reduce((sum, result) => sum + of(result), 0);
      return {
        system,
        sites,
        reads: count(({ reads }) => reads),
        faults: count(({ faults }) => faults.length),
        lateFaults: count(({ lateFaults }) => lateFaults.length),
      };
    }),
  );
}

function runCurve(context: Context, curve: Curve): readonly Row[] {
  return curve.clients.flatMap((clients) =>
    curve.systems.map((system) => {
      const { figure, siteCount, workload } = curve;
      context.progress(`${figure}, ${system}, ${siteCount} sites, ${clients} clients at each`);
      const result = runClosedLoop({
        ...createLoop(context, { system, clients, seed: 1 }),
        siteCount,
        workload,
        chooseRank: context.getChooser(workload.skew),
      });
      return createRow(curve, { system, clients }, result);
    }),
  );
}

/**
 * The warm-up of each system. CC-LO needs time until as many ids are dropped as are added, and the
 * causal store until other sites have answered.
 */
const WINDOWS_MS = { contrarian: [80, 50], 'cc-lo': [200, 60] } as const;
const FEW_DURATION_MS = 300;

interface LoopChoice {
  readonly system: SystemName;
  readonly clients: number;
  readonly seed: number;
}

function createLoop(
  { times, quick, getChooser }: Context,
  { system, clients, seed }: LoopChoice,
): LoopOptions {
  const [warmUpMs, durationMs] = quick
    ? [20, 20]
    : WINDOWS_MS[system === 'cc-lo' ? 'cc-lo' : 'contrarian'];
  return {
    system,
    seed,
    times,
    warmUpMs,
    // With few clients, the same number of operations takes longer.
    durationMs: !quick && clients < 16 ? FEW_DURATION_MS : durationMs,
    siteCount: 1,
    clientsPerSite: clients,
    workload: DEFAULT_WORKLOAD,
    chooseRank: getChooser(DEFAULT_WORKLOAD.skew),
  };
}

interface RoundChoice {
  readonly round: number;
  readonly of: string;
  readonly rows: readonly Row[];
}

async function measureRound(context: Context, { round, of, rows }: RoundChoice): Promise<Round> {
  context.progress(`puts, ${of}`);
  const seed = 100 + round;
  const measureCost = (system: SystemName, clients: number): ReturnType<typeof measurePutCost> =>
    measurePutCost(createLoop(context, { system, clients, seed }));
  const many = context.quick ? 64 : MANY_CLIENTS;
  const where = { figure: 'default', sites: 1 } as const;
  const half = findPeak(rows, { system: 'cc-lo', ...where }) / 2;
  return {
    costs: (['contrarian', 'cc-lo'] as const).map((system) => ({
      system,
      few: measureCost(system, FEW_CLIENTS),
      many: measureCost(system, many),
    })),
    atHalfPeak: SYSTEMS.map((system) => {
      const clients = findClientsFor(rows, { system, ...where }, half);
      const { put } = runClosedLoop(createLoop(context, { system, clients, seed }));
      return { system, clients, putMeanMs: rounded(put.meanMs) };
    }),
  };
}
