/** Bars of single figures: each says that what is worse is worse. */
import { expect, test } from 'vitest';
import { barsOf as latencyBars } from '../../../bench/cassandra/latency.ts';
import type { System } from '../../../bench/cassandra/messages.ts';
import { barOf as coreBar } from '../../../bench/core/bench.ts';
import { barsOf as bandwidthBars } from '../../../bench/zookeeper/bandwidth.ts';
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
    samples: [bytes],
  });
  const rows = [row(10, 1, 100), row(1000, 1, 105), row(10, 8, 120), row(1000, 8, 126)];
  const bars = bandwidthBars([...rows, row(10, 1, 1, other?.name), row(1000, 1, 999, other?.name)]);
  expect(named(bars, 'bytes-flat-length')).toMatchObject({ value: 1.05, aim: 1.1, verdict: 'met' });
  expect(named(bars, 'bytes-flat-consumers')).toMatchObject({ value: 1.2, aim: 1.1, verdict: 'missed' });
});
