/** What changed when: what is forgotten of it counts for all. */
import { expect, test } from 'vitest';
import { Fences } from '../../../../src/bindings/cache/fences.ts';

test('more objects than are remembered → the forgotten ones bind everything', () => {
  for (const kind of ['update', 'drop'] as const) {
    const fences = new Fences(1);
    fences.raise(kind, ['a'], 3);
    fences.raise(kind, ['b'], 7);
    expect(fences.latest(['a'])).toBe(3);
    expect(fences.against(['a'], { began: 2, isStrongest: true })).toBe(kind);
    expect(fences.against(['c'], { began: 2, isStrongest: true })).toBe(kind);
    expect(fences.against(['a'], { began: 3, isStrongest: true })).toBe('none');
  }
});
