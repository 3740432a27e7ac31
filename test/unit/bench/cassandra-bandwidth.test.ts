/** Bytes per operation: judged where enough diverges, and beside two requests through the same client. */
import { expect, test } from 'vitest';
import {
  barsOf,
  cellOf,
  DRIVES,
  driven,
  KINDS,
  rowOf,
  type Cell,
  type Kind,
  type Sample,
} from '../../../bench/cassandra/bandwidth-cells.ts';
import { measureRounds } from '../../../bench/cassandra/bandwidth-rounds.ts';
import { MIXES } from '../../../bench/cassandra/divergence.ts';

const DRIVEN = DRIVES[2] as Cell;
const BYTES: Readonly<Record<Kind, number>> = { C1: 1000, CC2: 1100, 'C1 + C2': 2000, 'CC2 twice': 2260 };

interface Planted {
  readonly divergence?: number;
  readonly drivenDivergence?: number;
  readonly drivenBytes?: number;
  readonly rounds?: number;
}

function bars(planted: Planted): Record<string, unknown> {
  const { divergence = 0.15, drivenDivergence = 0.3, drivenBytes = 1250, rounds = 7 } = planted;
  const cells = [...MIXES.map(cellOf), DRIVEN];
  const samples = cells.flatMap((cell) =>
    KINDS.flatMap((kind) =>
      Array.from({ length: rounds }, (_, round): Sample => {
        const bytesPerOp = cell.driven && kind === 'CC2' ? drivenBytes : BYTES[kind];
        return { ...cell, kind, round, bytesPerOp, divergence: cell.driven ? drivenDivergence : divergence };
      }),
    ),
  );
  const found = barsOf(cells.map((cell) => rowOf(cell, samples)));
  return Object.fromEntries(found.map(({ name, value, verdict }) => [name, [value, verdict]]));
}

test('bars: driven apart from the mixes of the paper; two requests through the same client and through the other', () => {
  expect(bars({})).toEqual({
    'bytes-overhead-A-driven': [0.25, 'met'],
    'divergence-A-driven': [0.3, 'met'],
    'bytes-overhead-A': [0.1, 'met'],
    'bytes-overhead-B': [0.1, 'met'],
    'divergence-A-latest': [0.15, 'met'],
    'bytes-overhead-A-zipfian': [0.1, null],
    'bytes-overhead-B-zipfian': [0.1, null],
    'two-requests-overhead-A': [1, null],
    'two-requests-overhead-A-other-client': [1.26, null],
  });
});

test('bars: too little diverges → that little was sent twice says nothing; too much was sent → missed all the same', () => {
  expect(bars({ drivenDivergence: 0.2 })).toMatchObject({
    'bytes-overhead-A-driven': [0.25, 'undecided'],
    'divergence-A-driven': [0.2, 'missed'],
    'bytes-overhead-A': [0.1, 'met'],
  });
  expect(bars({ divergence: 0.04 })).toMatchObject({ 'bytes-overhead-A': [0.1, 'undecided'] });
  expect(bars({ drivenDivergence: 0.2, drivenBytes: 1300 })).toMatchObject({
    'bytes-overhead-A-driven': [0.3, 'missed'],
  });
});

test('bars: fewer rounds than it takes to look twice → none is decided', () => {
  expect(bars({ rounds: 6 })).toMatchObject({
    'bytes-overhead-A-driven': [0.25, 'undecided'],
    'divergence-A-driven': [0.3, 'undecided'],
    'bytes-overhead-B': [0.1, 'undecided'],
  });
});

test('driven: fewer records, until clearly a quarter diverges; the fewest where it never does', async () => {
  const asked: number[] = [];
  const found = await driven(async ({ records }) => {
    asked.push(records);
    return records > 300 ? 0.26 : 0.28;
  });
  expect(found).toEqual({ ...DRIVES[0], records: 300 });
  expect(asked).toEqual([1000, 300]);
  expect(await driven(async () => 0.1)).toEqual(DRIVES.at(-1));
});

test.each([
  { is: 'surely', drivenBytes: [1250], rounds: 7 },
  { is: 'not surely', drivenBytes: [1250, 1300], rounds: 14 },
])('rounds: driven, views take $is no more than they may → $rounds of 7 to 14', async ({ drivenBytes, rounds }) => {
  const cells = [...MIXES.map(cellOf), DRIVEN];
  const told: string[] = [];
  const measured = await measureRounds(cells, {
    rounds: 7,
    measure: async ({ kind, driven: isDriven, round }) => ({
      bytesPerOp: isDriven && kind === 'CC2' ? (drivenBytes[round % drivenBytes.length] as number) : BYTES[kind],
      divergence: 0.3,
    }),
    progress: ({ workload }, text) => told.push(`${workload}: ${text}`),
  });
  expect(measured.map((round) => round.length)).toEqual(Array(rounds).fill(cells.length * KINDS.length));
  // Every round begins with another one.
  expect(told[0]).toBe('A: round 1 of 7, C1');
  expect(told[cells.length * KINDS.length]).toBe('A: round 2 of 7, CC2');
});
