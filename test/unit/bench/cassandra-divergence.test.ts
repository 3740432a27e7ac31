/** How often views differ, by mix: an interval of the rounds; what is stale is counted in the history of all of them. */
import { expect, test } from 'vitest';
import { barsOf, MIXES, type Sample } from '../../../bench/cassandra/divergence.ts';
import { LOADED, type HistoryEvent } from '../../../bench/cassandra/history.ts';

const SHARES: Readonly<Record<string, readonly number[]>> = {
  'A-zipfian': [0.05, 0.07, 0.04, 0.06, 0.05, 0.08],
  'A-latest': [0.2, 0.2, 0.2, 0.2, 0.2, 0.2],
  'B-zipfian': [0, 0, 0, 0, 0, 0.01],
  'B-latest': [0.03, 0.04, 0.02, 0.04, 0.03, 0.04],
};

const samples = MIXES.flatMap((mix) =>
  (SHARES[`${mix.workload}-${mix.distribution}`] ?? []).map((divergence, round): Sample => ({
    ...mix,
    round,
    reads: 100,
    divergence,
    opsPerSec: 1000,
  })),
);

function read(final: string, preliminary: string, beganMs: number): HistoryEvent {
  return {
    kind: 'read',
    client: 'r',
    key: 'k',
    beganMs,
    endedMs: beganMs + 1,
    preliminary: [preliminary],
    final: [final],
  };
}

const HISTORY: readonly HistoryEvent[] = [
  { kind: 'write', client: 'w', key: 'k', field: 0, tag: 'new', beganMs: 0, endedMs: 10 },
  read('new', 'new', 20),
  read('new', LOADED, 20),
  read('new', LOADED, 5),
  read(LOADED, LOADED, 20),
];

test('bars: the shares of each mix by its rounds, without goals; what is stale as it was counted', () => {
  const bars = Object.fromEntries(
    barsOf(samples, HISTORY).map(({ name, value, low, high, samples: taken, verdict }) => [
      name,
      [value, low, high, taken, verdict],
    ]),
  );
  expect(bars).toEqual({
    'divergence-A-zipfian': [0.055, 0.04, 0.08, 6, null],
    'divergence-A-latest': [0.2, 0.2, 0.2, 6, null],
    'divergence-B-zipfian': [0, 0, 0.01, 6, null],
    'divergence-B-latest': [0.035, 0.02, 0.04, 6, null],
    'stale-finals': [1, 1, 1, null, null],
    'stale-finals-share': [0.25, 0.25, 0.25, null, null],
    'stale-preliminaries': [2, 2, 2, null, null],
  });
});
