/**
 * What the benchmarks of TPC-W and RUBiS have in common (RedBlue, OSDI 2012, §8.3): the latency of
 * a blue and a red request by place and number of sites (Figure 10), clicks a second under rising
 * loads (Figures 11 and 12), and how many shadow operations are red at run time (Table 4). All
 * sites and all users share this machine: what more sites bring in clicks a second is limited by
 * its processors, where the paper had machines for each site.
 */
import type { Mix } from '../case-study.ts';
import { SITES } from '../sites.ts';
import { studyOf, type StudyName } from '../studies.ts';
import type { Interaction } from '../user.ts';
import { limitTime, estimate, reported, type GoalResult } from '../../../bench/harness/goals.ts';
import type { Bench, Outcome, Settings } from '../../../bench/harness/bench.ts';
import { groupBy } from '../../../bench/harness/group-by.ts';
import { versionsOf } from '../../../bench/harness/provenance.ts';
import { mean, median, rounded } from '../../../bench/harness/statistics.ts';
import { latencyRows, type Taken } from './latencies.ts';
import { runLoads, type Load, type Loaded } from './study-loads.ts';

/** A study, and what is looked at. */
export interface ShopPlan {
  readonly name: StudyName;
  readonly about: string;
  /** The requests whose latencies are taken, asked for in this mix. */
  readonly exemplars: {
    readonly blue: string;
    readonly red: string;
    readonly mix: Mix;
    /** How often the red one is red (Figure 10). */
    readonly redShare: number;
  };
  /**
   * The share of shadow operations that are blue, by mix (Table 4); the first mix is run at one to
   * five sites.
   */
  readonly blueShares: Readonly<Record<string, number>>;
  readonly scale: number;
}

/** At each place. */
const USERS = [4, 16, 64];
/** The most sites; and how many all mixes are run at, as in Figure 12. */
const SITES_MAX = SITES.length;
const SITES_OF_MIXES = 2;
/** Two points of a percentage. */
const SHARE_AIM = 0.02;
const EXEMPLARS = 'exemplars';

export interface NamedLoad extends Load {
  /** Of the mix. */
  readonly name: string;
}

/** What was measured with so many sites. */
export interface Round {
  readonly sites: number;
  readonly loads: readonly Loaded<NamedLoad>[];
}

/** One mix under one load, over all rounds. */
interface LoadRow extends Readonly<Record<string, unknown>> {
  readonly sites: number;
  readonly mix: string;
  readonly users: number;
  readonly perSecond: number;
  readonly meanMs: number;
  readonly blue: number;
  readonly red: number;
  readonly readOnly: number;
  readonly update: number;
  readonly failures: number;
}

export function shopBench(plan: ShopPlan): Bench {
  const { name, about } = plan;
  return { name, about, run: (settings) => run(plan, settings) };
}

async function run(plan: ShopPlan, { quick, progress }: Settings): Promise<Outcome> {
  const rounds = quick ? 1 : 6;
  const scale = quick ? plan.scale / 4 : plan.scale;
  const seconds = quick ? { exemplars: 1, mix: 0.5 } : { exemplars: 3, mix: 2 };
  const study = await studyOf(plan.name);
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (let sites = 1; sites <= SITES_MAX; sites += 1) {
      progress(`${plan.name}: round ${round} of ${rounds}, ${sites} sites`);
      const mixes = Object.keys(plan.blueShares).slice(0, sites === SITES_OF_MIXES ? undefined : 1);
      const mixed = mixes.flatMap((name) =>
        USERS.map((users) => ({ name, mix: study.mixes[name] ?? {}, users, seconds: seconds.mix })),
      );
      const exemplars = {
        name: EXEMPLARS,
        mix: plan.exemplars.mix,
        users: 1,
        seconds: seconds.exemplars,
      };
      measured.push({
        sites,
        loads: await runLoads({ study, sites, scale, seed: round }, [exemplars, ...mixed]),
      });
    }
  }
  const latencies = latencyRows(measured.flatMap((item) => takenIn(item, plan)));
  const loads = loadRows(measured);
  return {
    rounds,
    rows: [...latencies, ...loads],
    bars: computeGoalResults(plan, measured),
    samples: measured.map(({ sites, loads: all }) => all.map((item) => sampleOf(sites, item))),
    versions: versionsOf('ws'),
  };
}

/** The exemplars of a round: red ones only where they were. */
function takenIn({ sites, loads }: Round, { exemplars }: ShopPlan): readonly Taken[] {
  const seriesOf = ({ request, red }: Interaction): string | undefined => {
    if (request === exemplars.blue && red === 0) return exemplars.blue;
    return request === exemplars.red && red > 0 ? exemplars.red : undefined;
  };
  return loads
    .filter(({ load }) => load.name === EXEMPLARS)
    .flatMap(({ interactions }) => interactions)
    .flatMap((item) => {
      const series = seriesOf(item);
      if (series === undefined || item.failure !== undefined) return [];
      return [{ sites, place: item.site, series, ms: item.ms }];
    });
}

function sampleOf(sites: number, { load, interactions, figures }: Loaded<NamedLoad>) {
  const { interactionsPerSecond, shares, failures } = figures;
  return {
    sites,
    mix: load.name,
    users: load.users * SITES.length,
    perSecond: interactionsPerSecond,
    meanMs: mean(interactions.flatMap(({ ms, failure }) => (failure === undefined ? [ms] : []))),
    ...shares,
    failures: Object.values(failures).reduce((sum, item) => sum + item, 0),
    /** With what: only in the samples. */
    failedWith: failures,
  };
}

/** Medians of the rounds. */
function loadRows(rounds: readonly Round[]): readonly LoadRow[] {
  const samples = rounds.flatMap(({ sites, loads }) =>
    loads.filter(({ load }) => load.name !== EXEMPLARS).map((item) => sampleOf(sites, item)),
  );
  return groupBy(samples, ({ sites, mix, users }) => `${sites} ${mix} ${users}`).map((kind) => {
    const [{ sites, mix, users }] = kind;
    const middle = (of: Exclude<keyof (typeof kind)[0], 'mix' | 'failedWith'>): number =>
      rounded(median(kind.map((item) => item[of])));
    return {
      sites,
      mix,
      users,
      perSecond: middle('perSecond'),
      meanMs: middle('meanMs'),
      blue: middle('blue'),
      red: middle('red'),
      readOnly: middle('readOnly'),
      update: middle('update'),
      failures: kind.reduce((sum, { failures }) => sum + failures, 0),
    };
  });
}

/** What is reported of all rounds, and what is held to the paper's figures. */
export function computeGoalResults(
  { exemplars, blueShares }: ShopPlan,
  rounds: readonly Round[],
): readonly GoalResult[] {
  const of = (sites: number, mix: string): readonly (readonly Loaded<NamedLoad>[])[] =>
    rounds
      .filter((round) => round.sites === sites)
      .map(({ loads }) => loads.filter(({ load }) => load.name === mix));
  const [first = ''] = Object.keys(blueShares);
  const peaks = (sites: number): readonly number[] =>
    of(sites, first).map((loads) =>
      Math.max(...loads.map(({ figures }) => figures.interactionsPerSecond)),
    );
  const item = peaks(1);
  const gains = peaks(SITES_MAX).map((peak, round) => peak / (item[round] as number));
  const redShares = of(SITES_MAX, EXEMPLARS).map(([loaded]) =>
    redShareOf(exemplars.red, loaded?.interactions ?? []),
  );
  const all = rounds.flatMap(({ loads }) => loads).flatMap(({ interactions }) => interactions);
  return [
    reported('five-sites-vs-one', estimate(gains)),
    limitTime(
      'failures',
      all.filter(({ failure }) => failure !== undefined).length,
      { aim: 0 },
      'clicks',
    ),
    limitTime(
      `red-share-${exemplars.red}`,
      estimate(redShares.map((share) => Math.abs(share - exemplars.redShare))),
      { aim: SHARE_AIM },
      'fraction',
    ),
    ...Object.entries(blueShares).map(([mix, paper]) => {
      // Of the least load: its users click most often, and come to a purchase as often as the mix
      // says.
      const apart = of(SITES_OF_MIXES, mix).map(([loaded]) =>
        Math.abs((loaded?.figures.shares.blue ?? NaN) - paper),
      );
      return limitTime(`blue-share-${mix}`, estimate(apart), { aim: SHARE_AIM }, 'fraction');
    }),
  ];
}

/** Of the requests of this name those that were red. */
function redShareOf(name: string, interactions: readonly Interaction[]): number {
  return mean(
    interactions.flatMap(({ request, red }) => (request === name ? [red > 0 ? 1 : 0] : [])),
  );
}
