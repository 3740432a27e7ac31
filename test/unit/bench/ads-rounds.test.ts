/** Settings of a place go on while what is held to a goal there is undecided: those without load, and then the peaks. */
import { expect, test } from 'vitest';
import { barsOf } from '../../../bench/ads/bars.ts';
import { measureRounds, type Contest, type Measuring } from '../../../bench/ads/rounds.ts';
import { planOf } from '../../../bench/ads/settings.ts';
import type { Comparison, Performance } from '../../../demo/shared/chase/report.ts';

const performance = (opsPerSec: number): Performance => ({
  avgMs: 1,
  p50Ms: 1,
  p95Ms: 1,
  p99Ms: 1,
  opsPerSec,
  opsPerSecByBusyTime: opsPerSec,
});

/** How much is done under a load: most under 48. */
const done = (workers: number): number => (workers === 48 ? 200 : 100);

interface Given {
  /** Of the possible reduction, by round. */
  readonly reductions: readonly number[];
  /** Of the throughput at the peak, by round. */
  readonly changes: readonly number[];
}

async function measured({ reductions, changes }: Given): Promise<{ here: Measuring[]; asked: string[] }> {
  const plan = planOf(false, { placement: 'paper' });
  const here = [4, 48, 192].map((workers): Measuring => ({
    placement: 'paper',
    client: 'irl',
    asks: 'frk',
    workload: 'A',
    workers,
    rounds: [],
    atPeak: [],
    offered: [],
  }));
  const asked: string[] = [];
  const contest: Contest = async ({ workers }, { of, round, seconds, sliceMs, warmUpPairs }) => {
    asked.push(`${workers}, ${of}, ${seconds} s in ${sliceMs}, ${warmUpPairs}`);
    const throughputChange = changes[round % changes.length] as number;
    return {
      P: 1,
      F: 2,
      t: 1,
      possibleReduction: 0.5,
      baseline: performance(done(workers)),
      correctable: performance(done(workers) * (1 + throughputChange)),
      latencyReduction: 0.5 * (reductions[round % reductions.length] as number),
      throughputChange,
      divergence: 0,
      wrongDeliveries: 0,
      misspeculations: 0,
    } satisfies Comparison;
  };
  await measureRounds(here, plan, contest);
  return { here, asked };
}

const lengths = (here: readonly Measuring[]): number[][] =>
  here.map(({ rounds, atPeak }) => [rounds.length, atPeak.length]);

test('all is decided → so many rounds as are planned, each beginning with another setting', async () => {
  const { here, asked } = await measured({ reductions: [1], changes: [0] });
  expect(lengths(here)).toEqual([
    [7, 0],
    [7, 9],
    [7, 0],
  ]);
  // Under many requests at a time longer, and nothing to warm up.
  expect(asked.slice(0, 4)).toEqual([
    '4, round 1 of 7, 3 s in undefined, 2',
    '48, round 1 of 7, 3 s in undefined, 2',
    '192, round 1 of 7, 6 s in 1500, 0',
    '48, round 2 of 7, 3 s in undefined, 1',
  ]);
  expect(asked.at(-1)).toBe('48, at the peak, round 9 of 9, 6 s in 1500, 1');
});

test('fewer rounds than it takes to look twice → neither what is saved of the latency nor a gain is decided', async () => {
  const { here } = await measured({ reductions: [1], changes: [0] });
  const verdicts = (rounds: number): Record<string, unknown> => {
    const few = here.map((each) => ({
      ...each,
      rounds: each.rounds.slice(0, rounds),
      atPeak: each.atPeak.slice(0, rounds),
    }));
    return Object.fromEntries(barsOf('ads', few).map(({ name, verdict }) => [name, verdict]));
  };
  const names = ['ads-reduction-vs-possible-paper', 'gain-of-peaks', 'gain-at-peak-of-baseline'];
  expect(verdicts(7)).toMatchObject(Object.fromEntries(names.map((name) => [name, 'met'])));
  expect(verdicts(6)).toMatchObject(Object.fromEntries(names.map((name) => [name, 'undecided'])));
});

test('what is saved of the latency is undecided → more rounds where nobody queues, and nowhere else', async () => {
  const { here } = await measured({ reductions: [1, 0.8], changes: [0] });
  expect(lengths(here)).toEqual([
    [14, 0],
    [7, 9],
    [7, 0],
  ]);
  expect(barsOf('ads', here).find(({ name }) => name === 'ads-reduction-vs-possible-paper')?.verdict).toBe('undecided');
});

test('the gain at a peak is undecided → more rounds there', async () => {
  const { here } = await measured({ reductions: [1], changes: [0, -0.1] });
  expect(lengths(here)).toEqual([
    [7, 0],
    [7, 18],
    [7, 0],
  ]);
});
