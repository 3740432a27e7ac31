/** The paper's workload: determines which keys are read and written (section 5.1, Table 1). */
import { findPartition } from '../../../src/causal/partition-of-key.ts';
import type { Random } from '../../../src/server/service/collections/random.ts';

export interface Workload {
  /** w: the share of puts among puts and read keys. */
  readonly writes: number;
  /** p: the number of keys of a read, each in another partition. */
  readonly partitionsPerRead: number;
  /** b: bytes of a value. */
  readonly valueBytes: number;
  /** z: the exponent of the zipfian distribution of keys in a partition. */
  readonly skew: number;
}

/** The paper's default. */
export const DEFAULT_WORKLOAD: Workload = {
  writes: 0.05,
  partitionsPerRead: 4,
  valueBytes: 8,
  skew: 0.99,
};

export type Operation =
  | { readonly kind: 'read'; readonly keys: readonly string[] }
  | { readonly kind: 'put'; readonly key: string };

/** Draws a rank, counted from 0. Lower ranks are more popular. */
export type RankChooser = (random: Random) => number;

/** Returns a chooser among `count` ranks, of which rank r has a weight of 1 / (r + 1) ** skew. */
export function createRankChooser(count: number, skew: number): RankChooser {
  if (skew === 0) return (random) => random.between(0, count - 1);
  const sums = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank += 1) {
    sum += 1 / (rank + 1) ** skew;
    sums[rank] = sum;
  }
  return (random) => findFirstAbove(sums, random.fraction() * sum);
}

function findFirstAbove(sums: Float64Array, value: number): number {
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Names keys by partition and rank, with eight letters as in the paper. */
export class KeyNames {
  readonly #tags: readonly string[];

  constructor(partitionCount: number) {
    const tags = new Map<number, string>();
    for (let number = 0; tags.size < partitionCount; number += 1) {
      const tag = toLetters(number, 2);
      const partition = findPartition(`{${tag}}`, partitionCount);
      if (!tags.has(partition)) tags.set(partition, tag);
    }
    this.#tags = Array.from(
      { length: partitionCount },
      (_, partition) => tags.get(partition) as string,
    );
  }

  nameKey(partition: number, rank: number): string {
    return `{${this.#tags[partition]}}${toLetters(rank, 4)}`;
  }
}

function toLetters(number: number, length: number): string {
  return number.toString(36).padStart(length, '0');
}

/** Returns a function that draws operations. */
export function createOperations(
  { writes, partitionsPerRead }: Workload,
  {
    partitionCount,
    chooseRank,
  }: { readonly partitionCount: number; readonly chooseRank: RankChooser },
): (random: Random) => Operation {
  const names = new KeyNames(partitionCount);
  // A read of p keys counts as p reads in the share of writes.
  const putChance = (writes * partitionsPerRead) / (1 - writes + writes * partitionsPerRead);
  return (random) => {
    const drawKey = (partition: number): string => names.nameKey(partition, chooseRank(random));
    if (random.chance(putChance))
      return { kind: 'put', key: drawKey(random.between(0, partitionCount - 1)) };
    return {
      kind: 'read',
      keys: drawDistinct(random, partitionCount, partitionsPerRead).map(drawKey),
    };
  };
}

function drawDistinct(random: Random, below: number, count: number): number[] {
  const all = Array.from({ length: below }, (_, number) => number);
  for (let place = 0; place < count; place += 1) {
    const from = random.between(place, below - 1);
    [all[place], all[from]] = [all[from] as number, all[place] as number];
  }
  return all.slice(0, count);
}
