/** Which trips an operation of the microbenchmark needs, what rows its latencies come to, and how many rounds it takes. */
import { expect, test } from 'vitest';
import { latencyRows, type Taken } from '../../../bench/case-studies/latencies.ts';
import { barsOf, measureRounds, secondSiteMs, tripsMs } from '../../../bench/microbenchmark/latency.ts';
import { SITES } from '../../../demo/case-studies/sites.ts';

test.each([
  // Beside a site a blue operation needs none; from elsewhere, there and back.
  ['blue', 'ue', 2, 0],
  ['blue', 'sg', 2, 181],
  ['blue', 'sg', 5, 0],
  // Red at the leader: the nearest other one has it too.
  ['red', 'ue', 3, 85],
  // Of three, one that has what the leader sent knows that two have it.
  ['red', 'ie', 3, 92],
  ['red', 'sg', 3, 181 + 85],
  // Of five, the leader waits for two others, and says so.
  ['red', 'ue', 5, 92],
  ['red', 'sg', 5, 252 + 92],
  ['red', 'sg', 4, 181 + 85 + 92],
] as const)('%s from %s with %i sites → %i ms', (colour, place, sites, ms) => {
  expect(tripsMs(colour, place, sites)).toBe(ms);
});

test('operations → a row for each number of sites, place and series, with mean and deviation', () => {
  const taken = (sites: number, ms: number) => ({ sites, place: 'ue', series: 'red', ms }) as const;
  expect(latencyRows([taken(3, 9), taken(2, 1), taken(2, 3)])).toEqual([
    { sites: 2, place: 'ue', series: 'red', count: 2, meanMs: 2, deviationMs: 1 },
    { sites: 3, place: 'ue', series: 'red', count: 1, meanMs: 9, deviationMs: 0 },
  ]);
});

test('what a red operation depends on goes to the nearest other site of the one that was asked', () => {
  expect([secondSiteMs('ue', 2), secondSiteMs('sg', 4), secondSiteMs('sg', 5)]).toEqual([85, 85, 181]);
});

/** A round in which a blue operation at one place takes so many times what its trips and the site take. */
function takenIn(sites: number, blue: number): Taken[] {
  return SITES.flatMap((place) => {
    const of = (series: string, ms: number): Taken => ({ sites, place, series, ms });
    const times = place === 'ie' ? blue : 1;
    return [
      of('blue', times * (tripsMs('blue', place, sites) + 1)),
      of('red', tripsMs('red', place, sites)),
      of('red beside blue', tripsMs('red', place, sites) + secondSiteMs(place, sites)),
    ];
  });
}

const RING: Taken[] = [{ sites: 2, place: 'ue', series: 'red, token ring (simulated)', ms: 1 }];

test.each([
  { is: 'the time that it needs', blue: [1], rounds: 7, verdict: 'met' },
  { is: 'now that, now too long', blue: [1, 1.5], rounds: 14, verdict: 'undecided' },
])('rounds: a blue operation takes $is → $rounds rounds of 7 to 14, $verdict', async ({ blue, rounds, verdict }) => {
  const asked: string[] = [];
  const measured = await measureRounds(
    async (sites, seed) => {
      asked.push(`${sites} sites, ${seed}`);
      return takenIn(sites, blue[seed % blue.length] as number);
    },
    { rounds: 7, ring: RING, progress: () => {} },
  );
  expect(measured).toHaveLength(rounds);
  expect(asked.slice(0, 5)).toEqual(['2 sites, 1', '3 sites, 1', '4 sites, 1', '5 sites, 1', '2 sites, 2']);
  const bars = barsOf(measured, RING);
  expect(bars.find(({ name }) => name === 'blue-vs-rtt')?.verdict).toBe(verdict);
  expect(bars.find(({ name }) => name === 'red-vs-two-trips')).toMatchObject({ value: 1, verdict: 'met' });
  // Six are fewer than it takes to look twice.
  expect(barsOf(measured.slice(0, 6), RING).find(({ name }) => name === 'red-vs-two-trips')?.verdict).toBe('undecided');
});
