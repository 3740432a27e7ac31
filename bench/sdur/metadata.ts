/**
 * How many bytes more an operation takes if a deployment has more partitions: each has an entry in
 * every vector.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { reported, type GoalResult } from '../harness/goals.ts';
import { rounded } from '../harness/statistics.ts';
import { countBytes } from './systems/count-bytes.ts';

export const PARTITION_COUNTS = [1, 2, 4, 8] as const;

export interface BytesRow {
  /** With `main`. */
  readonly partitions: number;
  readonly wireBytes: number;
  readonly diskBytes: number;
}

export const partitionMetadata: Bench = {
  name: 'partition-metadata',
  about: 'bytes of a red operation between sites and on the disk, with 1 to 8 partitions',
  run,
};

async function run({ quick, progress }: Settings): Promise<Outcome> {
  const rows = PARTITION_COUNTS.map((partitions): BytesRow => {
    progress(`${partitions} partitions`);
    const { wireBytes, diskBytes } = countBytes(partitions, quick ? 16 : 160);
    return { partitions, wireBytes: rounded(wireBytes), diskBytes: rounded(diskBytes) };
  });
  return {
    rounds: 1,
    rows: rows.map((row) => ({ ...row })),
    bars: computeGoalResults(rows),
    samples: rows,
  };
}

export function computeGoalResults(rows: readonly BytesRow[]): readonly GoalResult[] {
  const [one] = rows;
  return rows
    .slice(1)
    .flatMap(({ partitions, wireBytes, diskBytes }) => [
      reported(`wire-bytes-${partitions}-vs-1`, rounded(wireBytes / (one?.wireBytes ?? NaN))),
      reported(`disk-bytes-${partitions}-vs-1`, rounded(diskBytes / (one?.diskBytes ?? NaN))),
    ]);
}
