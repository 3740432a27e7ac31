/**
 * What changed when, and by whom: what is forgotten of it counts for all, or for all of who it was.
 */
import { describe, expect, test } from 'vitest';
import { WriteAuthors } from '../../../../src/bindings/cache/updated-tags.ts';
import {
  InvalidationLog,
  type ViewContext,
} from '../../../../src/bindings/cache/invalidation-log.ts';

const of = (startedAt: number, isStrongest = true): ViewContext => ({
  principal: 'ann',
  startedAt,
  isStrongest,
});

describe('cache: fences', () => {
  test('more objects than are remembered → the forgotten ones bind everything from before', () => {
    for (const kind of ['write', 'drop'] as const) {
      const fences = new InvalidationLog(1);
      fences.record({ kind, scope: ['a'], principal: 'ann' }, 3);
      fences.record({ kind, scope: ['b'], principal: 'ann' }, 7);
      expect(fences.getLatestTime(['a'])).toBe(3);
      expect(fences.findInvalidation(['a'], of(2))).toBe(kind);
      expect(fences.findInvalidation(['c'], of(2))).toBe(kind);
      expect(fences.findInvalidation(['a'], of(3))).toBe('none');
    }
  });

  test('a write → weaker levels are kept from its author for ever, from others what is from before', () => {
    const fences = new InvalidationLog(10);
    fences.record({ kind: 'write', scope: ['a'], principal: 'ann' }, 3);
    expect(fences.findInvalidation(['a'], of(9, false))).toBe('write');
    expect(fences.findInvalidation(['b'], of(9, false))).toBe('none');
    expect(fences.findInvalidation(['a'], { ...of(2, false), principal: 'bob' })).toBe('write');
    expect(fences.findInvalidation(['a'], { ...of(3, false), principal: 'bob' })).toBe('none');
  });

  test('as JSON → the same, and without a name', () => {
    const fences = new InvalidationLog(10);
    fences.record({ kind: 'write', scope: ['object letter'], principal: 'ann' }, 3);
    fences.record({ kind: 'drop', scope: ['principal ann'] }, 5);
    const text = JSON.stringify(fences.data);
    expect(text).not.toMatch(/ann|letter/);
    const again = new InvalidationLog(10, JSON.parse(text));
    expect(again.findInvalidation(['object letter'], of(9, false))).toBe('write');
    expect(again.findInvalidation(['principal ann'], of(4))).toBe('drop');
  });
});

describe('cache: authors', () => {
  test('more marks than are remembered → only the user with the most marks may have updated everything', () => {
    const authors = new WriteAuthors(3);
    authors.add('bob', ['x']);
    authors.add('ann', ['a', 'b', 'c']);
    expect(authors.has('ann', ['never'])).toBe(true);
    expect(authors.has('bob', ['a'])).toBe(false);
    expect(authors.has('bob', ['x'])).toBe(true);
  });

  test('more authors than are remembered, or an unknown one → any user may be the author', () => {
    const many = new WriteAuthors(2);
    for (const caller of ['ann', 'bob', 'eve']) many.add(caller, ['x']);
    const unknown = new WriteAuthors(2);
    unknown.add(undefined, ['x']);
    expect([many.has('dan', ['y']), unknown.has('dan', ['y']), unknown.has('dan', ['x'])]).toEqual([
      true,
      false,
      true,
    ]);
  });
});
