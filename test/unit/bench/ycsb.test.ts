/**
 * YCSB's generators against the distributions that they claim: chi-square with fixed seeds, and its
 * known keys.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  latest,
  SCRAMBLED_RANKS,
  scrambledZipfian,
  SCRAMBLED_ZETA,
} from '../../../bench/ycsb/choosers.ts';
import { fnvHash64 } from '../../../bench/ycsb/fnv.ts';
import { FIELD_BYTES, fieldValue, keyOf, tagOf } from '../../../bench/ycsb/rows.ts';
import { parseRequests, WORKLOADS, type Workload } from '../../../bench/ycsb/workload.ts';
import { seeded, zetaOf, ZIPFIAN_CONSTANT, zipfian } from '../../../demo/shared/random.ts';

const DRAWS = 200_000;

/** How far a sample of counts is off; beyond `limitOf(bins)` by chance once in a thousand times. */
function chiSquare(observed: readonly number[], shares: readonly number[]): number {
  const draws = observed.reduce((sum, count) => sum + count, 0);
  return observed.reduce((sum, count, bin) => {
    const expected = draws * (shares[bin] as number);
    expect(expected).toBeGreaterThan(5);
    return sum + (count - expected) ** 2 / expected;
  }, 0);
}

/** Wilson and Hilferty's approximation of the quantile 0.999. */
function limitOf(bins: number): number {
  const freedom = bins - 1;
  return freedom * (1 - 2 / (9 * freedom) + 3.09 * Math.sqrt(2 / (9 * freedom))) ** 3;
}

/**
 * The share of the ranks below `rank`, as the generator's closed form has it: exact for the first
 * two.
 */
function shareBelow(rank: number, items: number, zeta: number): number {
  const zeta2 = 1 + 0.5 ** ZIPFIAN_CONSTANT;
  if (rank <= 0) return 0;
  if (rank >= items) return 1;
  if (rank <= 2) return (rank === 1 ? 1 : zeta2) / zeta;
  const eta = (1 - (2 / items) ** (1 - ZIPFIAN_CONSTANT)) / (1 - zeta2 / zeta);
  return Math.max(zeta2 / zeta, 1 - (1 - (rank / items) ** (1 - ZIPFIAN_CONSTANT)) / eta);
}

function counts(choose: (random: () => number) => number, items: number, seed: number): number[] {
  const random = seeded(seed);
  const found = Array.from({ length: items }, () => 0);
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const at = choose(random);
    found[at] = (found[at] as number) + 1;
  }
  return found;
}

const EDGES = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000];

/** Sums between the edges. */
function binned(values: readonly number[]): number[] {
  return EDGES.slice(1).map((edge, n) =>
    values.slice(EDGES[n], edge).reduce((sum, value) => sum + value, 0),
  );
}

/** The shares of the bins of 1000 ranks. */
function binShares(): number[] {
  const zeta = zetaOf(1000);
  const below = EDGES.map((edge) => shareBelow(edge, 1000, zeta));
  return below.slice(1).map((share, n) => share - (below[n] as number));
}

describe('zipfian', () => {
  test.each([1, 2, 3])(
    '1000 ranks, seed %i → chi-square accepts the generator’s distribution',
    (seed) => {
      const shares = binShares();
      expect(chiSquare(binned(counts(zipfian(1000), 1000, seed)), shares)).toBeLessThan(
        limitOf(shares.length),
      );
    },
  );
});

describe('scrambled zipfian', () => {
  /**
   * The shares of the records: popular ranks where their hash puts them, all the others spread
   * evenly.
   */
  function sharesOf(records: number): number[] {
    const popular = 60_000;
    const remaining = 1 - shareBelow(popular, SCRAMBLED_RANKS, SCRAMBLED_ZETA);
    const shares = Array.from({ length: records }, () => remaining / records);
    for (let rank = 0; rank < popular; rank += 1) {
      const record = Number(fnvHash64(rank) % BigInt(records));
      const share =
        shareBelow(rank + 1, SCRAMBLED_RANKS, SCRAMBLED_ZETA) -
        shareBelow(rank, SCRAMBLED_RANKS, SCRAMBLED_ZETA);
      shares[record] = (shares[record] as number) + share;
    }
    return shares;
  }

  test('100 records → chi-square accepts the shares that the hash gives them', () => {
    const shares = sharesOf(100);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(chiSquare(counts(scrambledZipfian(100), 100, 11), shares)).toBeLessThan(limitOf(100));
  });
});

describe('latest', () => {
  test('1000 records → the youngest as popular as the first rank, and so on backwards', () => {
    const shares = binShares();
    const youngestFirst = counts(latest(1000), 1000, 4).toReversed();
    expect(chiSquare(binned(youngestFirst), shares)).toBeLessThan(limitOf(shares.length));
  });
});

test('keys: the first records → the names that every YCSB database has', () => {
  expect(keyOf(0)).toBe('user6284781860667377211');
  expect(keyOf(1)).toBe('user8517097267634966620');
});

test('values: any tag → 100 printable characters that give the tag back', () => {
  fc.assert(
    fc.property(fc.nat(), fc.stringMatching(/^[a-z0-9-]{1,40}$/), (seed, tag) => {
      const value = fieldValue(seeded(seed), tag);
      expect(value).toMatch(/^[\x20-\x7e]+$/);
      expect(value).toHaveLength(FIELD_BYTES);
      expect(tagOf(value)).toBe(tag);
    }),
  );
});

describe('workloads', () => {
  const shares: Readonly<Record<Workload, number>> = { A: 0.5, B: 0.05, C: 0 };

  test.each(WORKLOADS)(
    '%s → its share of writes, every field alike, the same again for the same seed',
    (workload) => {
      const requests = parseRequests({ workload, distribution: 'zipfian', records: 100 });
      const [next, again] = [requests(9), requests(9)];
      const generated = Array.from({ length: 20_000 }, next);
      expect(Array.from({ length: 100 }, again)).toEqual(generated.slice(0, 100));
      const updates = generated.filter((request) => request.kind === 'write');
      const share = shares[workload];
      const deviation = Math.sqrt((share * (1 - share)) / generated.length);
      expect(Math.abs(updates.length / generated.length - share)).toBeLessThanOrEqual(
        3 * deviation,
      );
      if (share === 0) return;
      const fields = Array.from(
        { length: 10 },
        (_, field) => updates.filter((update) => update.field === field).length,
      );
      expect(
        chiSquare(
          fields,
          fields.map(() => 0.1),
        ),
      ).toBeLessThan(limitOf(10));
    },
  );
});
