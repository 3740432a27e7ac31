/** What preliminary views cost: of one client and of all, each compared where its own quorum reads peak in the sweep. */
import { expect, test } from 'vitest';
import { barsOf, comparedAt, dropOf, peakOf, type Sample } from '../../../bench/cassandra/load-drops.ts';

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
const PAIRS = [64, 128, 64, 128, 64, 128, 64, 128, 64, 128, 64, 128].flatMap((inFlight) => [
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
  expect(dropOf(measured, 'all')).toMatchObject({ dropOfPeaks: { value: 0.05, samples: 6 } });
});

test('bars: one for the client, one for all; both judged', () => {
  const measured = { workload: 'A', sweep: SWEEP, pairs: PAIRS } as const;
  const bars = (['irl', 'all'] as const).flatMap((clients) => barsOf(dropOf(measured, clients)));
  expect(bars.filter(({ aim }) => aim !== null).map(({ name, verdict }) => [name, verdict])).toEqual([
    ['throughput-drop-A-irl', 'held'],
    ['throughput-drop-A-all', 'met'],
  ]);
});
