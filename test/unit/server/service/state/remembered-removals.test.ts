import { expect, test } from 'vitest';
import { Origins } from '../../../../../src/server/service/records/origin.ts';
import { RememberedRemovals } from '../../../../../src/server/service/state/remembered-removals.ts';

const [A, B] = Origins.create(['a', 'b']).sites as [never, never];

function remember(...removals: readonly (readonly [key: string, entry: never, version: number])[]) {
  const remembered = new RememberedRemovals();
  for (const [key, entry, version] of removals)
    remembered.set({ key, time: version, site: entry, entry, version });
  const vectorOf = (a: number, b: number): number[] => {
    const vector: number[] = [];
    vector[A] = a;
    vector[B] = b;
    return vector;
  };
  const forget = (a: number, b: number, max = Infinity): readonly string[] => {
    const forgotten: string[] = [];
    remembered.forgetCovered(vectorOf(a, b), max, ({ key }) => {
      expect(remembered.has(key)).toBe(true);
      forgotten.push(key);
    });
    return forgotten;
  };
  return { remembered, forget };
}

test('removals of several entries → those that the vector covers are forgotten', () => {
  const { remembered, forget } = remember(['x', A, 1], ['y', B, 2], ['z', A, 3]);
  expect(forget(1, 1)).toEqual(['x']);
  expect(forget(2, 2)).toEqual(['y']);
  expect([...remembered.keys()]).toEqual(['z']);
});

test('a row that was removed again → forgotten with its last removal only', () => {
  const { remembered, forget } = remember(['x', A, 1], ['x', B, 5]);
  expect(forget(9, 4)).toEqual([]);
  expect(remembered.get('x')).toMatchObject({ version: 5 });
  expect(forget(9, 5)).toEqual(['x']);
});

test('more than may be forgotten at once → the next call goes on', () => {
  const { remembered, forget } = remember(['x', A, 1], ['y', A, 2], ['z', A, 3]);
  expect(forget(9, 9, 2)).toEqual(['x', 'y']);
  expect(remembered.has('z')).toBe(true);
  expect(forget(9, 9, 2)).toEqual(['z']);
});

test('removals that were restored in any order → forgotten by their stamps', () => {
  const { forget } = remember(['z', A, 3], ['x', A, 1], ['y', A, 2]);
  expect(forget(2, 0)).toEqual(['x', 'y']);
});
