/**
 * Chooses the records of requests like YCSB (Cooper and others, *Benchmarking cloud serving systems
 * with YCSB*, SoCC 2010), by its two skewed distributions, with its default settings.
 */
import { zipfian, type Random } from '../../demo/shared/random.ts';
import { fnvHash64 } from './fnv.ts';

export const DISTRIBUTIONS = ['zipfian', 'latest'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

/** Draws the number of a record. */
export type Chooser = (random: Random) => number;

/**
 * The number of ranks from which YCSB's `ScrambledZipfianGenerator` draws, however few the records
 * are. This flattens the skew.
 */
export const SCRAMBLED_RANKS = 10_000_000_000;
/** The zeta value of these ranks, a constant in YCSB. */
export const SCRAMBLED_ZETA = 26.469_028_201_783_02;

/** Chooses popular records that are spread over all records: `requestdistribution=zipfian`. */
export function scrambledZipfian(records: number): Chooser {
  const rank = zipfian(SCRAMBLED_RANKS, SCRAMBLED_ZETA);
  const count = BigInt(records);
  return (random) => Number(fnvHash64(rank(random)) % count);
}

/**
 * Chooses newer records more often: `requestdistribution=latest`. The standard workloads A, B and C
 * insert nothing, so the newest record stays the same.
 */
export function latest(records: number): Chooser {
  const rank = zipfian(records);
  return (random) => records - 1 - rank(random);
}

export function chooserOf(distribution: Distribution, records: number): Chooser {
  return distribution === 'latest' ? latest(records) : scrambledZipfian(records);
}
