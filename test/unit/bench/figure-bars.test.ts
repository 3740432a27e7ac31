/** Bars of single figures: each says that what is worse is worse. */
import { expect, test } from 'vitest';
import { barsOf as latencyBars, takeRounds } from '../../../bench/cassandra/latency.ts';
import type { System } from '../../../bench/cassandra/messages.ts';
import { barOf as coreBar } from '../../../bench/core/bench.ts';
import { barsOf as bandwidthBars, measureRounds } from '../../../bench/zookeeper/bandwidth.ts';
import { OURS, RECIPES } from '../../../bench/zookeeper/recipes.ts';

const ROUNDS = 20;
const times = <T>(value: T): T[] => Array.from({ length: ROUNDS }, () => value);
const named = <B extends { readonly name: string }>(bars: readonly B[], name: string): B | undefined =>
  bars.find((bar) => bar.name === name);

test('core: a way is held to a multiple of a Promise that it must not exceed; others are reported', () => {
  expect(coreBar('callbacks', times(1.4))).toMatchObject({ name: 'callbacks-vs-promise', verdict: 'met' });
  expect(coreBar('callbacks', times(1.6))).toMatchObject({ floor: 1.65, aim: 1.5, verdict: 'held' });
  expect(coreBar('callbacks', times(1.7))).toMatchObject({ value: 1.7, verdict: 'missed' });
  expect(coreBar('invoke, objects', times(2.7))).toMatchObject({
    name: 'invoke-objects-vs-promise',
    floor: 2.6,
    verdict: 'missed',
  });
  expect(coreBar('rxjs', times(9))).toMatchObject({ floor: null, aim: null, verdict: null });
});

test('cassandra-latency: views are held to plain reads of as many replicas, the slower preliminary to one', () => {
  const read = (finalMs: number, preliminaryMs: number | null = null) => [{ preliminaryMs, finalMs }];
  const bars = (given: Partial<Record<System, ReturnType<typeof read>>>) =>
    latencyBars(
      times({
        'driver C1': read(20),
        'driver C2': read(40),
        'driver C3': read(120),
        CC2: read(40, 20),
        CC3: read(120, 20),
        ...given,
      }),
    );
  for (const bar of bars({})) expect(bar).toMatchObject({ value: 1, verdict: 'met' });
  expect(named(bars({ CC3: read(120, 30) }), 'prelim-vs-c1')).toMatchObject({ value: 1.5, verdict: 'missed' });
  expect(named(bars({ CC2: read(60, 20) }), 'final-vs-c2')).toMatchObject({ value: 1.5, verdict: 'missed' });
  expect(named(bars({ CC3: read(90, 20) }), 'final-vs-c3')).toMatchObject({ value: 0.75, verdict: 'met' });
  // Beside a short baseline a millisecond is not much: it counts as part of the round trip.
  expect(named(bars({ 'driver C1': read(2), CC2: read(40, 3), CC3: read(120, 3) }), 'prelim-vs-c1')).toMatchObject({
    value: 1.05,
    verdict: 'met',
  });
});

test('zookeeper-bandwidth: the largest mean by the smallest, where only the length or only the consumers differ', () => {
  const [other] = RECIPES.filter((recipe) => recipe.name !== OURS);
  const row = (length: number, consumers: number, bytes: number, recipe: string = OURS) => ({
    recipe,
    length,
    consumers,
    bytes,
    bytesMin: bytes,
    bytesMax: bytes,
    samples: times(bytes),
  });
  const rows = [row(10, 1, 100), row(1000, 1, 105), row(10, 8, 120), row(1000, 8, 126)];
  const bars = bandwidthBars([...rows, row(10, 1, 1, other?.name), row(1000, 1, 999, other?.name)]);
  expect(named(bars, 'bytes-flat-length')).toMatchObject({ value: 1.05, aim: 1.1, verdict: 'met' });
  expect(named(bars, 'bytes-flat-consumers')).toMatchObject({ value: 1.2, aim: 1.1, verdict: 'missed' });
});

test('zookeeper-bandwidth: by chance more in some rounds than in others → an interval, of any two rows', () => {
  const rows = [1, 8].map((consumers) => {
    const samples = times(100).map((bytes, round) => bytes + (consumers === 8 ? round % 10 : 0));
    return { recipe: OURS, length: 10, consumers, bytes: consumers === 8 ? 104.5 : 100, samples };
  });
  const bar = named(bandwidthBars(rows), 'bytes-flat-consumers');
  expect(bar).toMatchObject({ value: 1.045, low: 1.02, high: 1.07, samples: ROUNDS, verdict: 'met' });
  // Of a few rounds nobody knows.
  const few = rows.map((row) => ({ ...row, samples: row.samples.slice(0, 6) }));
  expect(named(bandwidthBars(few), 'bytes-flat-consumers')).toMatchObject({ value: 1.045, verdict: 'undecided' });
});

const MORE = [
  { is: 'sure', spread: 0, rounds: 7 },
  { is: 'on both sides of the aim', spread: 0.3, rounds: 14 },
] as const;

test.each(MORE)('zookeeper-bandwidth: flatness is $is → $rounds rounds of 7 to 14', async ({ spread, rounds }) => {
  const [recipe] = RECIPES.filter(({ name }) => name === OURS);
  if (recipe === undefined) throw new Error('there is no recipe of ours');
  const cells = [10, 1000].map((length) => ({ recipe, length, consumers: 1 }));
  let measured = 0;
  const measure = async ({ length }: { readonly length: number }): Promise<number> => {
    if (length === 10) return 100;
    measured += 1;
    return measured % 2 === 0 ? 100 : 100 * (1 + spread);
  };
  const rows = await measureRounds(cells, measure, { rounds: 7, progress: () => {} });
  expect(rows.map(({ samples }) => samples.length)).toEqual([rounds, rounds]);
});

test.each(MORE)('cassandra-latency: a view beside a plain read is $is → $rounds rounds of 7 to 14', async (each) => {
  let round = 0;
  const asked: number[] = [];
  const takeTurns: Parameters<typeof takeRounds>[0]['takeTurns'] = async ({ systems, turns }) => {
    asked.push(turns);
    const times = round++ % 2 === 0 ? 1 : 1 + each.spread;
    return Object.fromEntries(
      systems.map((system) => {
        const replicas = Number(system.at(-1));
        const finalMs = ([20, 40, 110][replicas - 1] as number) * (system === 'CC2' ? times : 1);
        return [system, [{ preliminaryMs: system.startsWith('CC') ? 20 : null, finalMs }]];
      }),
    );
  };
  const reports = await takeRounds({ takeTurns }, { rounds: 7, turns: 5 }, () => {});
  expect(reports).toHaveLength(each.rounds);
  expect(new Set(asked)).toEqual(new Set([5]));
  expect(named(latencyBars(reports), 'final-vs-c2')?.verdict).toBe(each.spread === 0 ? 'met' : 'undecided');
  // Six are fewer than it takes to look twice.
  expect(named(latencyBars(reports.slice(0, 6)), 'final-vs-c3')?.verdict).toBe('undecided');
});
