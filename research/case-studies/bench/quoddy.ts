/**
 * Quoddy in one site and in five, with users at all five places (RedBlue, OSDI 2012, §8.4, Figure
 * 13): how long a friend request takes. Nothing in Quoddy is red.
 */
import { PLACES, SITES, type Site } from '../sites.ts';
import { studyOf } from '../studies.ts';
import { estimate, reported, type GoalResult } from '../../../bench/harness/goals.ts';
import type { Bench, Outcome, Settings } from '../../../bench/harness/bench.ts';
import { versionsOf } from '../../../bench/harness/provenance.ts';
import { median } from '../../../bench/harness/statistics.ts';
import { latencyRows, type Taken } from './latencies.ts';
import { runLoads } from './study-loads.ts';

const REQUEST = 'addFriend';
/** Where the original stood: at one site. */
const SETTINGS = [1, SITES.length];
/**
 * At each place: so few that all sites and users on this machine do not saturate its processors.
 */
const USERS = 2;
const SCALE = 0.01;

export const quoddy: Bench = {
  name: 'quoddy',
  about: 'the social network Quoddy in one site and in five: latency of addFriend from five places',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const rounds = quick ? 1 : 6;
  const study = await studyOf('quoddy');
  const load = { mix: study.mixes['social'] ?? {}, users: USERS, seconds: quick ? 4 : 10 };
  const taken: (readonly Taken[])[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const inRound: Taken[] = [];
    for (const sites of SETTINGS) {
      progress(`quoddy: round ${round} of ${rounds}, ${sites} sites`);
      const [done] = await runLoads(
        { study, sites, scale: quick ? SCALE / 4 : SCALE, seed: round },
        [load],
      );
      for (const { site, request, ms, failure } of done?.interactions ?? []) {
        if (request === REQUEST && failure === undefined)
          inRound.push({ sites, place: site, series: PLACES[site], ms });
      }
    }
    taken.push(inRound);
  }
  return {
    rounds,
    rows: latencyRows(taken.flat()),
    bars: computeGoalResults(taken),
    samples: taken.map((inRound) => latencyRows(inRound)),
    versions: versionsOf('ws'),
  };
}

/**
 * By round: how much longer users far from the first site wait than those beside it did when it was
 * alone.
 */
function computeGoalResults(rounds: readonly (readonly Taken[])[]): readonly GoalResult[] {
  const middle = (taken: readonly Taken[], sites: number, place: Site): number =>
    median(
      taken.filter((item) => item.sites === sites && item.place === place).map(({ ms }) => ms),
    );
  const [first, ...others] = SITES;
  const slowest = (taken: readonly Taken[], sites: number): number =>
    Math.max(...others.map((place) => middle(taken, sites, place)));
  const againstLocal = (sites: number): number[] =>
    rounds.map((taken) => slowest(taken, sites) / middle(taken, SETTINGS[0] as number, first));
  return [
    reported('far-vs-local-five-sites', estimate(againstLocal(SITES.length))),
    reported('far-vs-local-one-site', estimate(againstLocal(1))),
  ];
}
