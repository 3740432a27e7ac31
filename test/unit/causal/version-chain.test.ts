import { expect, test } from 'vitest';
import type { Version } from '../../../src/causal/version.ts';
import {
  EMPTY_CHAIN,
  findVisibleVersion,
  insertVersion,
  mergeChain,
  trimChain,
  type VersionChain,
} from '../../../src/causal/version-chain.ts';

function version(stamp: number, site = 0, other = 0): Version {
  const dependencies = site === 0 ? [stamp, other] : [other, stamp];
  return { stamp, site, kind: 'value', expiresAt: 0, dependencies, value: `${stamp}@${site}` };
}

function chainOf(...stamps: number[]): VersionChain {
  return stamps.map((stamp) => version(stamp)).reduce(insertVersion, EMPTY_CHAIN);
}

const value = (found: ReturnType<typeof findVisibleVersion>): unknown =>
  typeof found === 'object' ? found.value : found;

test('a read gets the newest version in its snapshot, by stamp and then by site (CAUSAL-4)', () => {
  const chain = [version(5), version(5, 1), version(7), version(3)].reduce(
    insertVersion,
    EMPTY_CHAIN,
  );
  expect(value(findVisibleVersion(chain, [6, 6]))).toBe('5@1');
  expect(value(findVisibleVersion(chain, [6, 4]))).toBe('5@0');
  expect(value(findVisibleVersion(chain, [9, 9]))).toBe('7@0');
  expect(findVisibleVersion(chain, [2, 2])).toBeUndefined();
});

test('a version whose dependencies are not in the snapshot is not visible (CAUSAL-4)', () => {
  const chain = [version(3), version(5, 0, 8)].reduce(insertVersion, EMPTY_CHAIN);
  expect(value(findVisibleVersion(chain, [9, 7]))).toBe('3@0');
  expect(value(findVisibleVersion(chain, [9, 8]))).toBe('5@0');
});

test('a version that is inserted twice is there once (CAUSAL-11)', () => {
  expect(insertVersion(chainOf(3, 5), version(5))).toEqual(chainOf(3, 5));
});

test('a trim keeps young versions, and the newest stable one of the old ones (CAUSAL-6)', () => {
  const trimmed = trimChain(chainOf(1, 2, 3, 4, 5), {
    keepFrom: 4,
    stable: [9, 9],
    maxVersions: 32,
    maxVersionBytes: 100,
  });
  expect(trimmed.map((link) => 'stamp' in link && link.stamp)).toEqual([5, 4, 3, false]);
  const unstable = trimChain(chainOf(1, 2, 3, 4, 5), {
    keepFrom: 9,
    stable: [2, 9],
    maxVersions: 32,
    maxVersionBytes: 100,
  });
  expect(unstable.map((link) => 'stamp' in link && link.stamp)).toEqual([5, 4, 3, 2, false]);
});

test('a trim keeps at most as many stable versions as it may (CAUSAL-6)', () => {
  expect(
    trimChain(chainOf(1, 2, 3, 4), {
      keepFrom: 0,
      stable: [9, 9],
      maxVersions: 2,
      maxVersionBytes: 100,
    }),
  ).toHaveLength(3);
});

test('a trim keeps at most as many bytes of stable values as it may (CAUSAL-6)', () => {
  const chain = chainOf(1, 2, 3, 4).map((link) => ({ ...link, value: new Uint8Array(40) }));
  expect(
    trimChain(chain, { keepFrom: 0, stable: [9, 9], maxVersions: 9, maxVersionBytes: 100 }),
  ).toHaveLength(4);
  expect(
    trimChain(chain, { keepFrom: 0, stable: [2, 9], maxVersions: 9, maxVersionBytes: 40 }),
  ).toHaveLength(4);
  expect(
    trimChain(chain, { keepFrom: 0, stable: [9, 9], maxVersions: 9, maxVersionBytes: 40 }),
  ).toHaveLength(2);
});

test('a read that comes to a gap is too old, and does not take the key for absent (CAUSAL-7)', () => {
  const trimmed = trimChain(chainOf(1, 2, 3), {
    keepFrom: 3,
    stable: [9, 9],
    maxVersions: 32,
    maxVersionBytes: 100,
  });
  expect(findVisibleVersion(trimmed, [1, 9])).toBe('TOO_OLD');
  expect(value(findVisibleVersion(trimmed, [2, 9]))).toBe('2@0');
});

test('a whole chain has no gap, and a gap is not added twice (CAUSAL-7)', () => {
  const limits = { keepFrom: 9, stable: [9, 9], maxVersions: 32, maxVersionBytes: 100 };
  expect(trimChain(chainOf(3), limits)).toEqual(chainOf(3));
  const trimmed = trimChain(chainOf(1, 3), limits);
  expect(trimChain(trimmed, limits)).toBe(trimmed);
});

test('a version that is older than a gap is not inserted (CAUSAL-7)', () => {
  const trimmed = trimChain(chainOf(1, 3), {
    keepFrom: 9,
    stable: [9, 9],
    maxVersions: 32,
    maxVersionBytes: 100,
  });
  expect(insertVersion(trimmed, version(2))).toBe(trimmed);
});

test('a merge keeps the versions of both chains (CAUSAL-14)', () => {
  expect(mergeChain(chainOf(2, 4), chainOf(1, 4, 5), undefined)).toEqual(chainOf(1, 2, 4, 5));
});

test('reads up to what was received pass the gap of a merge, and later ones are too old (CAUSAL-14, CAUSAL-15)', () => {
  const source: VersionChain = [version(8, 1), { passableUpTo: undefined }];
  const merged = mergeChain(chainOf(2), source, [Infinity, 5]);
  expect(value(findVisibleVersion(merged, [9, 5]))).toBe('2@0');
  expect(findVisibleVersion(merged, [9, 6])).toBe('TOO_OLD');
  expect(value(findVisibleVersion(merged, [9, 8]))).toBe('8@1');
  expect(
    findVisibleVersion(mergeChain(EMPTY_CHAIN, source, [Infinity, 5]), [9, 5]),
  ).toBeUndefined();
});

test('after lost writes, no read passes the gap of a merge (CAUSAL-14)', () => {
  const source: VersionChain = [version(8, 1), { passableUpTo: undefined }];
  expect(findVisibleVersion(mergeChain(chainOf(2), source, undefined), [9, 5])).toBe('TOO_OLD');
});

test('a second merge narrows the gap of the first (CAUSAL-14)', () => {
  const source: VersionChain = [version(8, 1), { passableUpTo: undefined }];
  const once = mergeChain(chainOf(2), source, [Infinity, 5]);
  expect(findVisibleVersion(mergeChain(once, source, [Infinity, 4]), [9, 5])).toBe('TOO_OLD');
  expect(findVisibleVersion(mergeChain(once, source, undefined), [9, 1])).toBe('TOO_OLD');
});
