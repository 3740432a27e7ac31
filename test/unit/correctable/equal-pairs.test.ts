/** COR-7: what "the same value" means of small values, from both sides. */
import { expect, test } from 'vitest';
import { structurallyEqual } from '../../../src/index.ts';

/** The value, so many lists around it. */
const nested = (value: unknown, depth: number): unknown => {
  let outer = value;
  for (let level = 0; level < depth; level++) outer = [outer];
  return outer;
};

const SHARED = { a: 1 };
const ownItem = (): unknown[] => {
  const list: unknown[] = [];
  list.push(list);
  return list;
};
/** Items that only their deepest parts tell apart, so that each is a candidate for each. */
const alike = (...ends: number[]): Set<unknown> => new Set(ends.map((end) => nested(end, 9)));

test.each<[what: string, a: unknown, b: unknown, isEqual: boolean]>([
  ['NaN', Number.NaN, Number.NaN, true],
  ['0 and -0', 0, -0, false],
  ['texts', 'a', 'a', true],
  ['numbers that differ', 1, 2, false],
  ['null and undefined', null, undefined, false],
  ['null and an object', null, {}, false],
  ['a number and an object', 1, {}, false],
  ['keys that are undefined', { a: undefined }, { a: undefined }, true],
  [
    'an item of both, and one like it',
    new Set([SHARED, { a: 1 }]),
    new Set([SHARED, { a: 2 }]),
    false,
  ],
  [
    'a key of both, and one like it',
    new Map([
      [SHARED, 1],
      [{ a: 1 }, 1],
    ]),
    new Map([
      [SHARED, 1],
      [{ a: 2 }, 1],
    ]),
    false,
  ],
  ['items that look alike, in one order', alike(1, 2, 3), alike(1, 2, 3), true],
  ['items that hold themselves', new Set([ownItem()]), new Set([ownItem()]), true],
  ['bytes and a date', Uint8Array.of(1), new Date(1), false],
])('%s → from both sides the same', (_, a, b, isEqual) => {
  expect([structurallyEqual(a, b), structurallyEqual(b, a)]).toEqual([isEqual, isEqual]);
});

test('the first that looks alike differs, so deep that assumptions begin with it → they are forgotten', () => {
  const [item, two] = [nested(1, 9), nested(2, 9)];
  const deep = (items: unknown[], again: unknown): unknown =>
    nested({ items: new Set(items), again }, 31);
  const left = deep([item, nested(2, 9)], item);
  const right = deep([two, nested(1, 9)], two);
  expect(structurallyEqual(left, right)).toBe(false);
});
