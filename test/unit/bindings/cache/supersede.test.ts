/** The rule of the cache as a table (docs/spec/cache.md, "The rule"), and what follows from it for any two views. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOlder } from '../../../../src/correctable/binding.ts';
import {
  ELSEWHERE,
  supersede,
  type Fence,
  type Recency,
  type Successor,
} from '../../../../src/bindings/cache/supersede.ts';
import { scaleRuns } from '../../../support/lane.ts';

const current: Recency = { value: 'current', version: undefined, rank: 1, began: 5, knownAt: 8 };
const next: Successor = { value: 'next', version: undefined, rank: 1, began: 9, knownAt: 10, isStrongest: false };
const of = (version: number): { readonly version: number } => ({ version });

describe('cache: the rule', () => {
  test.each([
    ['there is none', next, undefined, 'none', 'take'],
    ['there is none, fenced', next, undefined, 'update', 'neither'],
    [
      'a newer version, overlapping and weaker',
      { ...next, ...of(2), rank: 0, began: 6 },
      { ...current, ...of(1) },
      'none',
      'take',
    ],
    ['a newer version, fenced', { ...next, ...of(2) }, { ...current, ...of(1) }, 'update', 'take'],
    ['the same version', { ...next, ...of(1) }, { ...current, ...of(1) }, 'none', 'same'],
    ['equal values without a version, fenced', { ...next, value: 'current' }, current, 'update', 'same'],
    ['an older version, fenced', { ...next, ...of(1) }, { ...current, ...of(2) }, 'update', 'keep'],
    ['a newer version of what was dropped', { ...next, ...of(2) }, { ...current, ...of(1) }, 'drop', 'neither'],
    ['the same version of what was dropped', { ...next, ...of(1) }, { ...current, ...of(1) }, 'drop', 'keep'],
    ['nothing tells, fenced', next, current, 'update', 'neither'],
    [
      'strongest, later, an older version',
      { ...next, ...of(1), isStrongest: true },
      { ...current, ...of(2) },
      'none',
      'take',
    ],
    [
      'strongest, overlapping, an older version',
      { ...next, ...of(1), began: 6, isStrongest: true },
      { ...current, ...of(2) },
      'none',
      'keep',
    ],
    [
      'the same against one of a store',
      { ...next, ...of(1), began: 6, isStrongest: true },
      { ...current, ...of(2), began: ELSEWHERE - 3 },
      'none',
      'neither',
    ],
    ['an older version, later', { ...next, ...of(1) }, { ...current, ...of(2) }, 'none', 'keep'],
    ['as strong and later', next, current, 'none', 'take'],
    ['as strong, overlapping', { ...next, began: 6 }, current, 'none', 'neither'],
    ['weaker and later', { ...next, rank: 0 }, current, 'none', 'neither'],
    [
      'weaker, and learnt before the current one began',
      { ...next, rank: 0, began: 1, knownAt: 4 },
      current,
      'none',
      'keep',
    ],
  ] as const)('%s', (_, given, there, fence, expected) => {
    expect(supersede(given, there, fence, isOlder)).toBe(expected);
  });

  test('any two views: never an older version over a newer one, unless the store says so now', () => {
    const time = fc.nat(20);
    const recency = {
      value: fc.constantFrom('a', 'b'),
      version: fc.option(fc.nat(3), { nil: undefined }),
      rank: fc.nat(2),
    };
    const any = fc.record({ ...recency, began: time, knownAt: time, isStrongest: fc.boolean() });
    const property = fc.property(
      any,
      any,
      fc.constantFrom<Fence[]>('none', 'update', 'drop'),
      (given, there, fence) => {
        const verdict = supersede(given, there, fence, isOlder);
        const isSurelyLater = given.isStrongest && given.began >= there.knownAt && fence === 'none';
        if (verdict === 'take' && isOlder(given.version, there.version)) expect(isSurelyLater).toBe(true);
        if (verdict === 'keep') expect(isOlder(there.version, given.version)).toBe(false);
        if (fence === 'drop') expect(['keep', 'neither']).toContain(verdict);
        if (verdict === 'take' && fence !== 'none') expect(isOlder(there.version, given.version)).toBe(true);
      },
    );
    fc.assert(property, { numRuns: scaleRuns(2_000) });
  });
});
