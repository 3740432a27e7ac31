/**
 * Measures how long a withdrawal takes with one red log for all rows, and with a second log near
 * the users of some rows. Both deployments have the same four sites, in one process with the delays
 * of a wide area. Each round measures both.
 */
import { createClient, type Client } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { createEmbedded, type Embedded } from 'correctables/server';
import { runAdaptiveRounds, LOOKS } from '../harness/adaptive-rounds.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { estimate, limitTime, reported, type Estimate, type GoalResult } from '../harness/goals.ts';
import { checkDelay } from '../harness/preconditions.ts';
import { median, pairedRatios, rounded } from '../harness/statistics.ts';
import { ROUND_TRIPS_MS } from '../../engines/wan.ts';
import { redTripsMs, type RedLog } from '../harness/red-trips.ts';
import { bank, service } from './service.ts';

const SITES = ['ireland', 'frankfurt', 'virginia', 'ohio'] as const;
type Site = (typeof SITES)[number];

type Log = RedLog<Site>;
const MAIN: Log = { leader: 'ireland', voters: SITES };
const US: Log = { leader: 'virginia', voters: ['virginia', 'ohio', 'ireland'] };

const LAYOUTS = {
  'one log': {},
  'a log near its users': { us: US },
} as const;
type Layout = keyof typeof LAYOUTS;

/** A user, whose account is in `us` if the deployment has that partition. */
const USERS = [
  { place: 'virginia', account: 'us/ann' },
  { place: 'ohio', account: 'us/eve' },
  { place: 'frankfurt', account: 'eu/bob' },
] as const;

const WARM_UP = 10;
const OPENING_CENTS = 1_000_000;
const FLOOR = 0.15;

/** The median of one round, of one user with one layout. */
export interface Wait {
  readonly layout: Layout;
  readonly place: Site;
  readonly ms: number;
}

export const redNearUsers: Bench = {
  name: 'red-near-users',
  about:
    'a red operation of users in Virginia, with one red log for all rows and with one near them',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const measureRound = async (_: number, of: string): Promise<readonly Wait[]> => {
    const waits: Wait[] = [];
    for (const layout of Object.keys(LAYOUTS) as Layout[]) {
      progress(`${layout}, ${of}`);
      waits.push(...(await measure(layout, quick ? 10 : 40)));
    }
    return waits;
  };
  const rounds = await runAdaptiveRounds(measureRound, {
    ...(quick ? { rounds: 1, looks: 1 } : { rounds: 7 }),
    computeGoalResults,
  });
  return {
    rounds: rounds.length,
    rows: summarize(rounds),
    bars: computeGoalResults(rounds),
    samples: rounds,
  };
}

/** Lets all users withdraw at the same time. Each user runs one withdrawal after another. */
async function measure(layout: Layout, operations: number): Promise<readonly Wait[]> {
  const deployment = createEmbedded(service, {
    sites: SITES,
    redLeader: MAIN.leader,
    partitions: LAYOUTS[layout],
    latency: ROUND_TRIPS_MS,
  });
  try {
    return await Promise.all(
      USERS.map((user) => measureUser(deployment, layout, { ...user, operations })),
    );
  } finally {
    await deployment.close();
  }
}

interface Work {
  readonly place: Site;
  readonly account: string;
  readonly operations: number;
}

/** @throws Error if withdrawals take less time than their trips */
async function measureUser(
  deployment: Embedded<Site>,
  layout: Layout,
  { place, account, operations }: Work,
): Promise<Wait> {
  const client: Client<RedBlueLevels> = createClient(deployment.site(place));
  await client.invoke(bank.deposit({ account, cents: OPENING_CENTS }));
  const taken: number[] = [];
  for (let n = 0; n < WARM_UP + operations; n += 1) {
    const begun = performance.now();
    await client.invokeStrong(bank.withdraw({ account, cents: 1 }));
    if (n >= WARM_UP) taken.push(performance.now() - begun);
  }
  const ms = median(taken);
  const atLeastMs = redTripsMs(place, findLog(layout, account), roundTripMs);
  checkDelay(`${layout}, ${place}`, { ms, atLeastMs });
  return { layout, place, ms };
}

function findLog(layout: Layout, account: string): Log {
  const logs: Readonly<Record<string, Log>> = LAYOUTS[layout];
  return logs[account.split('/')[0] as string] ?? MAIN;
}

function roundTripMs(from: Site, to: Site): number {
  return ROUND_TRIPS_MS[[from, to].toSorted().join('-')] as number;
}

function computeGoalResults(rounds: readonly (readonly Wait[])[]): readonly GoalResult[] {
  const ratio = (place: Site): Estimate =>
    estimate(
      pairedRatios(
        listWaits(rounds, 'a log near its users', place),
        listWaits(rounds, 'one log', place),
      ),
      LOOKS,
    );
  return [
    limitTime('near-users-vs-one-log-virginia', ratio('virginia'), { floor: FLOOR }),
    reported('near-users-vs-one-log-ohio', ratio('ohio')),
    reported('near-users-vs-one-log-frankfurt', ratio('frankfurt')),
  ];
}

function listWaits(rounds: readonly (readonly Wait[])[], layout: Layout, place: Site): number[] {
  return rounds
    .flat()
    .flatMap((wait) => (wait.layout === layout && wait.place === place ? [wait.ms] : []));
}

function summarize(rounds: readonly (readonly Wait[])[]): Readonly<Record<string, unknown>>[] {
  return (Object.keys(LAYOUTS) as Layout[]).flatMap((layout) =>
    USERS.map(({ place, account }) => ({
      layout,
      place,
      p50Ms: rounded(median(listWaits(rounds, layout, place))),
      tripsMs: redTripsMs(place, findLog(layout, account), roundTripMs),
    })),
  );
}
