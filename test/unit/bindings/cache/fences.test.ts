/** What changed when, and by whom: what is forgotten of it counts for all, or for all of who it was. */
import { describe, expect, test } from 'vitest';
import { Authors } from '../../../../src/bindings/cache/authors.ts';
import { Fences, type Reading } from '../../../../src/bindings/cache/fences.ts';

const of = (began: number, isStrongest = true): Reading => ({ principal: 'ann', began, isStrongest });

describe('cache: fences', () => {
  test('more objects than are remembered → the forgotten ones bind everything from before', () => {
    for (const kind of ['update', 'drop'] as const) {
      const fences = new Fences(1);
      fences.raise({ kind, scope: ['a'], principal: 'ann' }, 3);
      fences.raise({ kind, scope: ['b'], principal: 'ann' }, 7);
      expect(fences.latest(['a'])).toBe(3);
      expect(fences.against(['a'], of(2))).toBe(kind);
      expect(fences.against(['c'], of(2))).toBe(kind);
      expect(fences.against(['a'], of(3))).toBe('none');
    }
  });

  test('an update → weaker levels are kept from its author for ever, from others what is from before', () => {
    const fences = new Fences(10);
    fences.raise({ kind: 'update', scope: ['a'], principal: 'ann' }, 3);
    expect(fences.against(['a'], of(9, false))).toBe('update');
    expect(fences.against(['b'], of(9, false))).toBe('none');
    expect(fences.against(['a'], { ...of(2, false), principal: 'bob' })).toBe('update');
    expect(fences.against(['a'], { ...of(3, false), principal: 'bob' })).toBe('none');
  });

  test('as JSON → the same, and without a name', () => {
    const fences = new Fences(10);
    fences.raise({ kind: 'update', scope: ['object letter'], principal: 'ann' }, 3);
    fences.raise({ kind: 'drop', scope: ['principal ann'] }, 5);
    const text = JSON.stringify(fences.data);
    expect(text).not.toMatch(/ann|letter/);
    const again = new Fences(10, JSON.parse(text));
    expect(again.against(['object letter'], of(9, false))).toBe('update');
    expect(again.against(['principal ann'], of(4))).toBe('drop');
  });
});

describe('cache: authors', () => {
  test('more marks than are remembered → whoever has most of them may have updated everything, and nobody else', () => {
    const authors = new Authors(3);
    authors.add('bob', ['x']);
    authors.add('ann', ['a', 'b', 'c']);
    expect(authors.has('ann', ['never'])).toBe(true);
    expect(authors.has('bob', ['a'])).toBe(false);
    expect(authors.has('bob', ['x'])).toBe(true);
  });

  test('more authors than are remembered, or one of whom nothing is known → anybody', () => {
    const many = new Authors(2);
    for (const who of ['ann', 'bob', 'eve']) many.add(who, ['x']);
    const unknown = new Authors(2);
    unknown.add(undefined, ['x']);
    expect([many.has('dan', ['y']), unknown.has('dan', ['y']), unknown.has('dan', ['x'])]).toEqual([true, false, true]);
  });
});
