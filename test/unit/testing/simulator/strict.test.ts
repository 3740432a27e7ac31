/** Strict serializability: each kind of cycle is found, and only cycles. */
import { expect, test } from 'vitest';
import {
  findStrictCycle,
  type StrictOperation,
} from '../../../../src/testing/simulator/checkers/strict.ts';

/** An operation that takes no time unless it is given. */
function operation(
  name: string,
  [begunAt, endedAt]: readonly [number, number?],
  seen: Readonly<Record<string, string | undefined>> = {},
): StrictOperation {
  return { name, begunAt, endedAt, seen: new Map(Object.entries(seen)) };
}

const writers = (
  rows: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, readonly string[]> => new Map(Object.entries(rows));

test('operations one after the other have no cycle', () => {
  const operations = [
    operation('a', [1, 2]),
    operation('b', [3, 4], { x: 'a' }),
    operation('c', [5, 6], { x: 'b' }),
  ];
  expect(findStrictCycle(operations, writers({ x: ['a', 'b'] }))).toBeUndefined();
});

test('two operations that each miss what the other wrote are a cycle', () => {
  const operations = [operation('a', [1], { y: undefined }), operation('b', [1], { x: undefined })];
  expect(findStrictCycle(operations, writers({ x: ['a'], y: ['b'] }))).toEqual(['a', 'b']);
});

test('a lost update is a cycle', () => {
  const operations = [operation('a', [1], { x: undefined }), operation('b', [1], { x: undefined })];
  expect(findStrictCycle(operations, writers({ x: ['a', 'b'] }))).toEqual(['a', 'b']);
});

test('two rows with opposite orders of writers are a cycle', () => {
  const operations = [operation('a', [1]), operation('b', [1])];
  expect(findStrictCycle(operations, writers({ x: ['a', 'b'], y: ['b', 'a'] }))).toEqual([
    'a',
    'b',
  ]);
});

test('a read that misses a write that had ended before it began is a cycle', () => {
  const missed = { x: undefined };
  const order = writers({ x: ['a'] });
  expect(findStrictCycle([operation('a', [1, 2]), operation('b', [3, 4], missed)], order)).toEqual([
    'b',
    'a',
  ]);
  expect(
    findStrictCycle([operation('a', [1, 3]), operation('b', [3, 4], missed)], order),
  ).toBeUndefined();
  expect(
    findStrictCycle([operation('a', [1]), operation('b', [3, 4], missed)], order),
  ).toBeUndefined();
});

test('a cycle may go through real time and three operations', () => {
  const operations = [
    operation('global', [1, 9], { y: undefined }),
    operation('write', [2, 3]),
    operation('read', [4, 5], { x: undefined }),
  ];
  const order = writers({ x: ['global'], y: ['write'] });
  expect(findStrictCycle(operations, order)?.toSorted()).toEqual(['global', 'read', 'write']);
});

test('many operations need no deep stack', () => {
  const names = Array.from({ length: 20_000 }, (_, number) => `o${number}`);
  const operations = names.map((name, number) => operation(name, [number, number]));
  expect(findStrictCycle(operations, writers({ x: names }))).toBeUndefined();
});
