import { expect, test } from 'vitest';
import { KINDS, rowOf, type Sample } from '../../../bench/cassandra/bandwidth-cells.ts';

test('bytes without confirmations: what reads send if all of their views differ', () => {
  const [plainBytes, confirmationBytes, viewBytes] = [1000, 60, 1100];
  const settings = [
    { workload: 'A', distribution: 'zipfian', divergence: 0.05, readShare: 0.5 },
    { workload: 'A', distribution: 'latest', divergence: 0.25, readShare: 0.5 },
    { workload: 'B', distribution: 'latest', divergence: 0.02, readShare: 0.95 },
  ] as const;
  const samples = [0, 1, 2].flatMap((round) =>
    settings.flatMap(({ readShare, divergence, ...mix }) =>
      KINDS.map((kind): Sample => {
        const second = confirmationBytes + divergence * (viewBytes - confirmationBytes);
        const bytesPerOp = plainBytes + (kind === 'CC2' ? readShare * second : 0);
        return {
          ...mix,
          records: 1000,
          inFlight: 48,
          driven: false,
          kind,
          round,
          bytesPerOp,
          divergence,
        };
      }),
    ),
  );
  const overheadOf = (cell: (typeof settings)[number]): number =>
    rowOf({ ...cell, records: 1000, inFlight: 48, driven: false }, samples).unconfirmedOverhead
      .value;
  expect(overheadOf(settings[1])).toBeCloseTo(0.5 * 1.1);
  expect(overheadOf(settings[2])).toBeCloseTo(0.95 * 1.1);
});
