/**
 * Measures the latency of an operation by color, place and number of sites (RedBlue, OSDI 2012,
 * §8.2.1, Figure 8). Users at all five places use the nearest site, each with one operation in
 * flight. A blue operation should take the round trip to the site. A red operation should also take
 * the trip to the leader, and the time until a majority has it. The baseline is a simulation of the
 * paper's token ring.
 */
import { nearestSite, roundTripMs, SITES, type Site } from '../../research/case-studies/sites.ts';
import { seeded } from '../../demo/shared/random.ts';
import { pause } from '../../demo/tickets/pause.ts';
import {
  latencyRows,
  type LatencyRow,
  type Taken,
} from '../../research/case-studies/bench/latencies.ts';
import {
  limitTime,
  estimate,
  largest,
  reported,
  type GoalResult,
  type Estimate,
} from '../harness/goals.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { groupBy } from '../harness/group-by.ts';
import { versionsOf } from '../harness/provenance.ts';
import { mean, pairedRatios } from '../harness/statistics.ts';
import { LOOKS, runAdaptiveRounds, type Course } from '../harness/adaptive-rounds.ts';
import { checkDelay } from '../harness/preconditions.ts';
import { redTripsMs } from '../harness/red-trips.ts';
import { SERVER_FLAGS } from '../load/processes.ts';
import { startSites, toucher, type Color } from './sites.ts';
import { simulateTokenRing } from './token-ring.ts';

const SITES_MIN = 2;
/**
 * A red operation waits until a second site has the blue ones of its own site that it depends on:
 * rule R8.
 */
const BESIDE_BLUE = 'red beside blue';
/** The phases, one after the other: which users are active, and the name of their latencies. */
const PHASES: readonly (readonly { readonly color: Color; readonly series?: string }[])[] = [
  [{ color: 'blue', series: 'blue' }],
  [{ color: 'red', series: 'red' }],
  [{ color: 'red', series: BESIDE_BLUE }, { color: 'blue' }],
];
/** The number of users of each color at each place. */
const USERS = 4;
/**
 * The maximum pause between an answer and the next operation. So few operations are in flight that
 * none waits for another.
 */
const THINK_MS_MAX = 40;
/**
 * The warm-up of each phase: until the code is compiled, and all sites have the operations of the
 * phase before.
 */
const WARM_UP_MS = 1000;

/** The time that a site itself may take for an operation. */
const SITE_MS = 1;
const BLUE_AIM = 1.15;
const RED_AIM = 1.2;

const RING = 'red, token ring (simulated)';
const RING_MS = 600_000;

export const redblueLatency: Bench = {
  name: 'redblue-latency',
  about:
    'a blue and a red operation from five places, with two to five sites: what they take beside the trips they need',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const durationMs = quick ? 1000 : 2000;
  const ring = SITES.slice(SITES_MIN - 1).flatMap((_, at) => simulated(SITES_MIN + at));
  const taken = await measureRounds((sites, seed) => measure(sites, { durationMs, seed }), {
    ...(quick ? { rounds: 1, looks: 1 } : { rounds: 7 }),
    ring,
    progress,
  });
  const all = taken.flat();
  const rows = latencyRows([...all, ...ring]);
  return {
    rounds: taken.length,
    rows: rows.map(besideTrips),
    bars: computeGoalResults(taken, ring),
    samples: taken.map((inRound) => latencyRows(inRound)),
    versions: versionsOf('ws'),
    flags: [SERVER_FLAGS],
  };
}

interface Extent extends Pick<Course<unknown>, 'rounds' | 'looks'> {
  /** The simulated latencies of a token ring. */
  readonly ring: readonly Taken[];
  readonly progress: Settings['progress'];
}

/**
 * Measures every number of sites in every round, and in again as many rounds while a goal is
 * undecided.
 *
 * @param measureOnce returns the latencies with a number of sites
 * @throws Error if operations take less than their round trips
 */
export function measureRounds(
  measureOnce: (sites: number, seed: number) => Promise<readonly Taken[]>,
  { ring, progress, ...course }: Extent,
): Promise<readonly (readonly Taken[])[]> {
  const measureAll = async (round: number, of: string): Promise<readonly Taken[]> => {
    const inRound: Taken[] = [];
    for (let sites = SITES_MIN; sites <= SITES.length; sites += 1) {
      progress(`${of}, ${sites} sites`);
      const taken = await measureOnce(sites, round + 1);
      checkTrips(taken);
      inRound.push(...taken);
    }
    return inRound;
  };
  return runAdaptiveRounds(measureAll, {
    ...course,
    computeGoalResults: (soFar) => computeGoalResults(soFar, ring),
  });
}

/**
 * Checks that operations take at least their round trips. A red operation beside blue ones may
 * depend on one that a second site has had for long, so only its own trips count.
 */
function checkTrips(taken: readonly Taken[]): void {
  const settings = groupBy(
    taken,
    ({ sites, place, series }) => `${series} from ${place}, ${sites} sites`,
  );
  for (const setting of settings) {
    const [{ sites, place, series }] = setting;
    const atLeastMs = tripsMs(series === 'blue' ? 'blue' : 'red', place, sites);
    checkDelay(`${series} from ${place}, ${sites} sites`, {
      ms: mean(setting.map(({ ms }) => ms)),
      atLeastMs,
    });
  }
}

/** Runs users at all places, phase by phase. */
async function measure(
  sites: number,
  { durationMs, seed }: { readonly durationMs: number; readonly seed: number },
): Promise<readonly Taken[]> {
  const running = await startSites(sites);
  try {
    const clients = await Promise.all(SITES.map((place) => running.clientAt(place)));
    const taken: Taken[] = [];
    for (const phase of PHASES) {
      const from = performance.now() + WARM_UP_MS;
      const work = async (
        place: Site,
        { color, series }: (typeof phase)[number],
        user: number,
      ): Promise<void> => {
        const at = SITES.indexOf(place);
        const touch = toucher(
          clients[at] as (typeof clients)[number],
          seed * 1000 + at * USERS + user,
          () => color,
        );
        const random = seeded(user);
        for (let n = 0; ; n += 1) {
          await pause(random() * THINK_MS_MAX);
          const begun = performance.now();
          if (begun > from + durationMs) return;
          await touch(n);
          const ms = performance.now() - begun;
          if (series !== undefined && begun >= from) taken.push({ sites, place, series, ms });
        }
      };
      const users = SITES.flatMap((place) =>
        phase.flatMap((kind) =>
          Array.from({ length: USERS }, (_, user) => work(place, kind, user)),
        ),
      );
      await Promise.all(users);
    }
    return taken;
  } finally {
    await running.close();
  }
}

/** Simulates the same users with the paper's red order. */
function simulated(sites: number): readonly Taken[] {
  const users = { window: USERS, thinkMs: THINK_MS_MAX / 2, places: SITES };
  const waited = simulateTokenRing({ sites, ...users, serviceMs: SITE_MS, durationMs: RING_MS });
  return waited.map(({ place, ms }) => ({ sites, place, series: RING, ms }));
}

/** Returns the round trips for which an operation has to wait. */
export function tripsMs(color: Color, place: Site, sites: number): number {
  const site = nearestSite(place, sites);
  const awayMs = roundTripMs(place, site);
  if (color === 'blue') return awayMs;
  const log = { leader: SITES[0], voters: SITES.slice(0, sites) };
  return awayMs + redTripsMs<Site>(site, log, roundTripMs);
}

/** Returns the round trip from the user's site to the nearest other site. */
export function secondSiteMs(place: Site, sites: number): number {
  const site = nearestSite(place, sites);
  const others = SITES.slice(0, sites).filter((item) => item !== site);
  return Math.min(...others.map((item) => roundTripMs(site, item)));
}

function neededMs(series: string, place: Site, sites: number): number {
  if (series === BESIDE_BLUE) return tripsMs('red', place, sites) + secondSiteMs(place, sites);
  return tripsMs(series as Color, place, sites);
}

function besideTrips(row: LatencyRow): Readonly<Record<string, unknown>> {
  return row.series === RING
    ? row
    : { ...row, tripsMs: neededMs(row.series, row.place, row.sites) };
}

export function computeGoalResults(
  rounds: readonly (readonly Taken[])[],
  ring: readonly Taken[],
): readonly GoalResult[] {
  const meanOf = (taken: readonly Taken[], { sites, place, series }: Omit<Taken, 'ms'>): number =>
    mean(
      taken
        .filter((t) => t.sites === sites && t.place === place && t.series === series)
        .map(({ ms }) => ms),
    );
  const settings = SITES.slice(SITES_MIN - 1).flatMap((_, at) =>
    SITES.map((place) => ({ sites: SITES_MIN + at, place })),
  );
  /** The values of the place where they are worst. */
  const against = (series: string, siteMs = 0): Estimate =>
    largest(
      settings.map(({ sites, place }) => {
        const needed = neededMs(series, place, sites) + siteMs;
        return estimate(
          rounds.map((taken) => meanOf(taken, { sites, place, series }) / needed),
          LOOKS,
        );
      }),
    );
  /** The values of all users together. */
  const all = (taken: readonly Taken[], series: string): number =>
    mean(taken.filter((item) => item.series === series).map(({ ms }) => ms));
  const redMs = rounds.map((taken) => all(taken, 'red'));
  const ringMs = redMs.map(() => all(ring, RING));
  return [
    limitTime('blue-vs-rtt', against('blue', SITE_MS), { aim: BLUE_AIM }),
    limitTime('red-vs-two-trips', against('red'), { aim: RED_AIM }),
    reported('red-beside-blue-vs-three-trips', against(BESIDE_BLUE)),
    reported('red-vs-simulated-token-ring', estimate(pairedRatios(redMs, ringMs), LOOKS)),
  ];
}
