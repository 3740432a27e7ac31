/**
 * The rule of the cache as a table (docs/spec/cache.md, "The rule"), and what follows from it for
 * any two views.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOlder } from '../../../../src/correctable/binding.ts';
import {
  BEFORE_LOCAL_TIME,
  comparePrecedence,
  type InvalidationKind,
  type ViewRecency,
  type SuccessorView,
} from '../../../../src/bindings/cache/view-precedence.ts';
import { scaleRuns } from '../../../support/lane.ts';

const current: ViewRecency = {
  value: 'current',
  version: undefined,
  rank: 1,
  startedAt: 5,
  learnedAt: 8,
};
const next: SuccessorView = {
  value: 'next',
  version: undefined,
  rank: 1,
  startedAt: 9,
  learnedAt: 10,
  isStrongest: false,
};
const of = (version: number): { readonly version: number } => ({ version });

describe('cache: the rule', () => {
  test.each([
    ['there is none', next, undefined, 'none', 'take'],
    ['there is none, fenced', next, undefined, 'write', 'neither'],
    [
      'a newer version, overlapping and weaker',
      { ...next, ...of(2), rank: 0, startedAt: 6 },
      { ...current, ...of(1) },
      'none',
      'take',
    ],
    ['a newer version, fenced', { ...next, ...of(2) }, { ...current, ...of(1) }, 'write', 'take'],
    ['the same version', { ...next, ...of(1) }, { ...current, ...of(1) }, 'none', 'same'],
    [
      'equal values without a version, fenced',
      { ...next, value: 'current' },
      current,
      'write',
      'same',
    ],
    ['an older version, fenced', { ...next, ...of(1) }, { ...current, ...of(2) }, 'write', 'keep'],
    [
      'a newer version of what was dropped',
      { ...next, ...of(2) },
      { ...current, ...of(1) },
      'drop',
      'neither',
    ],
    [
      'the same version of what was dropped',
      { ...next, ...of(1) },
      { ...current, ...of(1) },
      'drop',
      'keep',
    ],
    ['an unknown order, fenced', next, current, 'write', 'neither'],
    [
      'strongest, later, an older version',
      { ...next, ...of(1), isStrongest: true },
      { ...current, ...of(2) },
      'none',
      'take',
    ],
    [
      'strongest, overlapping, an older version',
      { ...next, ...of(1), startedAt: 6, isStrongest: true },
      { ...current, ...of(2) },
      'none',
      'keep',
    ],
    [
      'the same against one of a store',
      { ...next, ...of(1), startedAt: 6, isStrongest: true },
      { ...current, ...of(2), startedAt: BEFORE_LOCAL_TIME - 3 },
      'none',
      'neither',
    ],
    ['an older version, later', { ...next, ...of(1) }, { ...current, ...of(2) }, 'none', 'keep'],
    ['as strong and later', next, current, 'none', 'take'],
    ['as strong, overlapping', { ...next, startedAt: 6 }, current, 'none', 'neither'],
    ['weaker and later', { ...next, rank: 0 }, current, 'none', 'neither'],
    [
      'weaker, and learnt before the current one began',
      { ...next, rank: 0, startedAt: 1, learnedAt: 4 },
      current,
      'none',
      'keep',
    ],
  ] as const)('%s', (_, value, there, fence, expected) => {
    expect(comparePrecedence(value, there, fence, isOlder)).toBe(expected);
  });

  test('any two views: never an older version over a newer one, unless the store returned it last', () => {
    const time = fc.nat(20);
    const recency = {
      value: fc.constantFrom('a', 'b'),
      version: fc.option(fc.nat(3), { nil: undefined }),
      rank: fc.nat(2),
    };
    const any = fc.record({
      ...recency,
      startedAt: time,
      learnedAt: time,
      isStrongest: fc.boolean(),
    });
    const property = fc.property(
      any,
      any,
      fc.constantFrom<InvalidationKind[]>('none', 'write', 'drop'),
      (value, there, fence) => {
        const verdict = comparePrecedence(value, there, fence, isOlder);
        const isSurelyLater =
          value.isStrongest && value.startedAt >= there.learnedAt && fence === 'none';
        if (verdict === 'take' && isOlder(value.version, there.version))
          expect(isSurelyLater).toBe(true);
        if (verdict === 'keep') expect(isOlder(there.version, value.version)).toBe(false);
        if (fence === 'drop') expect(['keep', 'neither']).toContain(verdict);
        if (verdict === 'take' && fence !== 'none')
          expect(isOlder(there.version, value.version)).toBe(true);
      },
    );
    fc.assert(property, { numRuns: scaleRuns(2_000) });
  });
});
