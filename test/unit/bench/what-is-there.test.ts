/** A benchmark of a product that gives no preliminary view, or without the delays, ends: it has nothing to tell. */
import { expect, test } from 'vitest';
import { checkedCrew } from '../../../bench/cassandra/crew-checked.ts';
import type { Crew } from '../../../bench/cassandra/crew.ts';
import { takeRounds } from '../../../bench/cassandra/latency.ts';
import { SYSTEMS, type LoadReport, type System, type TurnsReport } from '../../../bench/cassandra/messages.ts';
import type { Taken } from '../../../bench/case-studies/latencies.ts';
import { checkDelay, checkViews } from '../../../bench/harness/what-is-there.ts';
import { measureRounds as microbenchmarkRounds, tripsMs } from '../../../bench/microbenchmark/latency.ts';
import { measureRounds as zookeeperRounds, type Round } from '../../../bench/zookeeper/latency-rounds.ts';
import { SITES } from '../../../demo/case-studies/sites.ts';

const quiet = (): void => {};
/** Nothing, or why it ended. */
const errorOf = (measured: Promise<unknown>): Promise<string> => measured.then(() => '', String);
const NO_VIEWS = 'what they take or cost was not measured';
const NO_DELAYS = 'the delays are not there';
const NONE = /^$/;

test('views: of hardly any operation one may be late; of none at all nothing is known', () => {
  expect(() => checkViews('reads', { views: 99, of: 100 })).not.toThrow();
  expect(() => checkViews('reads', { views: 98, of: 100 })).toThrow(
    'reads: 98 preliminary views of 100 operations: what they take or cost was not measured',
  );
  expect(() => checkViews('reads', { views: 0, of: 0 })).toThrow(NO_VIEWS);
});

test('delays: an answer may come a little sooner than the way takes, as timers do', () => {
  expect(() => checkDelay('reads', { ms: 19, atLeastMs: 20 })).not.toThrow();
  expect(() => checkDelay('reads', { ms: 18.9, atLeastMs: 20 })).toThrow(
    'reads: 18.90 ms, where the way alone takes 20 ms: the delays are not there',
  );
  expect(() => checkDelay('reads', { ms: NaN, atLeastMs: 20 })).toThrow(NO_DELAYS);
});

/** A crew of one client whose reads have so many preliminary views. */
function crewOf(reads: number, preliminaries: number): Crew {
  const latency = { avgMs: 1, p99Ms: 1 };
  const rest = {
    operations: reads,
    elapsedMs: 1,
    preliminary: null,
    final: latency,
    bytes: null,
    cpuUs: 1,
    history: [],
  };
  const report: LoadReport = { ...rest, reads, preliminaries };
  return {
    load: async () => new Map([['irl', report]]),
    takeTurns: async () => ({}),
    nodesUs: () => ({}),
    close: async () => {},
  };
}

test.each([
  ['CC2', 1000, 1000, true],
  ['CC2', 1000, 1, false],
  ['CC3', 1000, 0, false],
  ['CC2 twice', 1000, 0, false],
  ['C1 + C2', 1000, 0, false],
  ['C2', 1000, 0, true],
  ['driver C1', 1000, 0, true],
] as const)(
  'cassandra: a load by %s, of %i reads %i with a preliminary view',
  async (system, reads, views, isBelieved) => {
    const order = {
      workload: 'A',
      distribution: 'zipfian',
      records: 1,
      inFlight: 1,
      warmUpMs: 1,
      durationMs: 1,
    } as const;
    const loaded = checkedCrew(crewOf(reads, views)).load({ ...order, system, seed: 1, record: false });
    expect(await errorOf(loaded)).toMatch(isBelieved ? NONE : new RegExp(NO_VIEWS));
  },
);

const FINAL_MS = { 1: 21, 2: 41, 3: 112 } as const;

/** What a hundred reads by each system take. */
function turns({ views = 100, times = 1 }): TurnsReport {
  const reads = (system: System): NonNullable<TurnsReport[System]> =>
    Array.from({ length: 100 }, (_, n) => ({
      preliminaryMs: system.startsWith('CC') && n < views ? 20 * times : null,
      finalMs: times * FINAL_MS[Number(/\d/.exec(system)?.[0]) as 1],
    }));
  return Object.fromEntries(SYSTEMS.map((system) => [system, reads(system)]));
}

test.each([
  { is: 'all there', report: turns({}), error: NONE },
  { is: 'without most preliminary views', report: turns({ views: 1 }), error: new RegExp(NO_VIEWS) },
  { is: 'without delays', report: turns({ times: 0.05 }), error: new RegExp(NO_DELAYS) },
])('cassandra-latency: reads are $is', async ({ report, error }) => {
  const rounds = takeRounds({ takeTurns: async () => report }, { rounds: 7, turns: 100 }, quiet);
  expect(await errorOf(rounds)).toMatch(error);
});

const ROUND: Round = {
  roundTripMs: 20,
  plainMs: 60,
  preliminaryMs: 21,
  finalMs: 60,
  preliminaryViews: 1,
  plainBytes: 100,
  bytes: 150,
};

test.each([
  { is: 'all there', round: ROUND, error: NONE },
  {
    is: 'without preliminary views',
    round: { ...ROUND, preliminaryMs: 0, preliminaryViews: 0 },
    error: new RegExp(NO_VIEWS),
  },
  { is: 'without delays', round: { ...ROUND, roundTripMs: 0.3, preliminaryMs: 0.5 }, error: new RegExp(NO_DELAYS) },
])('zookeeper-latency: enqueues are $is', async ({ round, error }) => {
  const placement = { awayMs: 20, measure: async () => round };
  const rounds = zookeeperRounds([placement, placement], { rounds: 7, operations: 40 }, quiet);
  expect(await errorOf(rounds)).toMatch(error);
});

/** Operations that take so many times their trips, and half a millisecond. */
function taken(sites: number, times: number): Taken[] {
  return SITES.flatMap((place) =>
    (['blue', 'red'] as const).flatMap((colour) => {
      const ms = times * tripsMs(colour, place, sites) + 0.5;
      return [colour, ...(colour === 'red' ? ['red beside blue'] : [])].map((series) => ({ sites, place, series, ms }));
    }),
  );
}

test.each([
  { is: 'all there', times: 1, error: NONE },
  { is: 'without delays', times: 0, error: new RegExp(NO_DELAYS) },
])('redblue-latency: operations are $is', async ({ times, error }) => {
  const ring = [{ sites: 2, place: 'ue', series: 'red, token ring (simulated)', ms: 1 }] as const;
  const rounds = microbenchmarkRounds(async (sites) => taken(sites, times), { rounds: 7, ring, progress: quiet });
  expect(await errorOf(rounds)).toMatch(error);
});
