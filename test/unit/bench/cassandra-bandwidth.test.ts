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
import { MIXES } from '../../../bench/cassandra/divergence.ts';

const DRIVEN = DRIVES[2] as Cell;
const BYTES: Readonly<Record<Kind, number>> = { C1: 1000, CC2: 1100, 'C1 + C2': 2000, 'CC2 twice': 2260 };

interface Planted {
  readonly divergence?: number;
  readonly drivenDivergence?: number;
  readonly drivenBytes?: number;
}

function bars({ divergence = 0.15, drivenDivergence = 0.3, drivenBytes = 1250 }: Planted): Record<string, unknown> {
  const cells = [...MIXES.map(cellOf), DRIVEN];
  const samples = cells.flatMap((cell) =>
    KINDS.flatMap((kind) =>
      [0, 1, 2, 3, 4, 5].map((round): Sample => {
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
