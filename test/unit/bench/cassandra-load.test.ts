/** What preliminary views cost: of one client and of all, each compared where its own quorum reads peak in the sweep. */
import { expect, test } from 'vitest';
import { barsOf, comparedAt, dropOf, peakOf, type Sample } from '../../../bench/cassandra/load-drops.ts';
import { comparePairs, PAIR, type Cell } from '../../../bench/cassandra/load-pairs.ts';

interface Done {
  readonly system: Sample['system'];
  readonly inFlight: number;
  readonly irl: number;
  readonly all: number;
  readonly round?: number;
}

function sample({ system, inFlight, irl, all, round = 0 }: Done): Sample {
  const latency = { avgMs: 1, p99Ms: 1 };
  return {
    workload: 'A',
    system,
    inFlight,
    round,
    opsPerSec: irl,
    totalOpsPerSec: all,
    clientUsPerOp: 1,
    coordinatorUsPerOp: system === 'CC2' ? 110 : 100,
    nodesUsPerOp: 300,
    preliminary: latency,
    final: latency,
  };
}

/** Ireland's quorum reads peak at 64 requests, those of all clients at 128. */
const SWEEP = [
  sample({ system: 'C2', inFlight: 32, irl: 500, all: 900 }),
  sample({ system: 'C2', inFlight: 64, irl: 1000, all: 1800 }),
  sample({ system: 'C2', inFlight: 128, irl: 900, all: 2000 }),
  sample({ system: 'CC2', inFlight: 32, irl: 490, all: 890 }),
  sample({ system: 'CC2', inFlight: 64, irl: 800, all: 1700 }),
  sample({ system: 'CC2', inFlight: 128, irl: 850, all: 1900 }),
];
/** As many as it takes to be sure. */
const PAIRS = Array.from({ length: 7 }, () => [64, 128])
  .flat()
  .flatMap((inFlight) => [
    sample({ system: 'C2', inFlight, irl: 1000, all: 2000 }),
    sample({ system: 'CC2', inFlight, irl: inFlight === 64 ? 900 : 100, all: inFlight === 64 ? 100 : 1900 }),
    sample({ system: 'driver C2', inFlight, irl: 1200, all: 2400 }),
  ]);

test('peaks: by the medians of the rounds, of each system its own', () => {
  const noisy = [1, 2].map((round) => sample({ system: 'C2', inFlight: 32, irl: 500, all: 900, round }));
  const spike = sample({ system: 'C2', inFlight: 32, irl: 5000, all: 9000, round: 3 });
  expect(peakOf([...SWEEP, ...noisy, spike], 'C2', 'irl')).toEqual({ inFlight: 64, opsPerSec: 1000 });
  expect(peakOf(SWEEP, 'CC2', 'irl')).toEqual({ inFlight: 128, opsPerSec: 850 });
});

test('compared: where either peaks, for the one client and for all', () => {
  expect(comparedAt(SWEEP)).toEqual([64, 128]);
  expect(comparedAt(SWEEP.filter(({ inFlight }) => inFlight === 32))).toEqual([32]);
});

test('drops: the one client alone and all together, each in the pairs at its own peak, the peaks beside', () => {
  const measured = { workload: 'A', sweep: SWEEP, pairs: PAIRS } as const;
  expect(dropOf(measured, 'irl')).toMatchObject({ inFlight: 64, drop: 0.1, dropVsDriver: 0.25 });
  // Ireland's CC2 at its own peak, 128, beside its C2 at 64.
  expect(dropOf(measured, 'irl')).toMatchObject({ inFlightCC2: 128, dropOfPeaks: { value: 0.9 } });
  expect(dropOf(measured, 'irl')).toMatchObject({ dropOfPeaksInSweep: 0.15, coordinatorUsPerOpCC2: 110 });

  expect(dropOf(measured, 'all')).toMatchObject({ inFlight: 128, drop: 0.05, peakC2: 2000 });
  expect(dropOf(measured, 'all')).toMatchObject({ dropOfPeaks: { value: 0.05, samples: 7 } });
});

test('bars: one for the client, one for all; both judged', () => {
  const measured = { workload: 'A', sweep: SWEEP, pairs: PAIRS } as const;
  const bars = (['irl', 'all'] as const).flatMap((clients) => barsOf(dropOf(measured, clients)));
  expect(bars.filter(({ aim }) => aim !== null).map(({ name, verdict }) => [name, verdict])).toEqual([
    ['throughput-drop-A-irl', 'held'],
    ['throughput-drop-A-all', 'met'],
  ]);
  // Six pairs at each load are fewer than it takes to look twice.
  const few = (['irl', 'all'] as const).flatMap((clients) =>
    barsOf(dropOf({ ...measured, pairs: PAIRS.slice(6) }, clients)),
  );
  expect(few.flatMap(({ verdict }) => verdict ?? [])).toEqual(['undecided', 'undecided']);
});

test('bars: what stands beside is an interval of the same pairs; where nobody tells the time of a node, there is none', () => {
  const measured = { workload: 'A', sweep: SWEEP } as const;
  const pairs = PAIRS.map((each, at): Sample => {
    const round = Math.floor(at / 3);
    const opsPerSec = each.system === 'driver C2' ? 1200 + 100 * round : each.opsPerSec;
    return { ...each, opsPerSec, coordinatorUsPerOp: each.system === 'CC2' ? 100 + round : 100 };
  });
  const bar = (given: readonly Sample[], name: string) =>
    barsOf(dropOf({ ...measured, pairs: given }, 'irl')).find((each) => each.name === name);
  // Every other round is at the peak, 64: the first to the thirteenth.
  expect(bar(pairs, 'coordinator-time-A-irl')).toMatchObject({ value: 0.06, low: 0, high: 0.12, samples: 7 });
  expect(bar(pairs, 'throughput-drop-A-irl-vs-driver')).toMatchObject({
    value: 0.5,
    low: 0.25,
    high: 0.625,
    samples: 7,
  });
  const untold = pairs.map((each) => ({ ...each, coordinatorUsPerOp: null }));
  expect(bar(untold, 'coordinator-time-A-irl')).toBeUndefined();
});

test.each([
  { is: 'clearly less', drops: [0.3], rounds: 7 },
  { is: 'now more, now less than it may be', drops: [0, 0.3], rounds: 14 },
])('pairs: CC2 does $is → $rounds rounds of 7 to 14', async ({ drops, rounds }) => {
  const asked: Cell[] = [];
  const measure = async (cell: Cell): Promise<Sample> => {
    asked.push(cell);
    const share = cell.system === 'CC2' ? 1 - (drops[cell.round % drops.length] as number) : 1;
    return sample({ ...cell, irl: 1000 * share, all: 2000 * share });
  };
  const measured = { workload: 'A', sweep: SWEEP } as const;
  const pairs = await comparePairs(measured, { rounds: 7, measure, progress: () => {} });
  expect(pairs).toHaveLength(rounds * 2 * PAIR.length);
  // Each round in the other order.
  expect(asked.slice(0, 3).map(({ system }) => system)).toEqual(PAIR);
  expect(asked.slice(6, 9).map(({ system }) => system)).toEqual(PAIR.toReversed());
});
