/** C7: what "the same value" means, however deep or large it is. */
import { expect, test } from 'vitest';
import { all, structurallyEqual } from '../../../src/index.ts';
import { manual } from './support.ts';

/** A list of so many links, one in the other. */
function chained(length: number, end: unknown = null): unknown {
  let list = end;
  for (let at = 0; at < length; at += 1) list = { next: list };
  return list;
}

test('deeper than any stack → compared all the same', () => {
  expect(structurallyEqual(chained(100_000), chained(100_000))).toBe(true);
  expect(structurallyEqual(chained(100_000, 1), chained(100_000, 2))).toBe(false);
  expect(structurallyEqual([chained(500, 1), 1], [chained(500, 1), 2])).toBe(false);
  expect(structurallyEqual(new Set([chained(500)]), new Set([chained(500)]))).toBe(true);
});

test('one comparison ends early → nothing of it is left for the next', () => {
  expect(structurallyEqual([chained(500, 1), chained(500, 1), 1], [chained(500, 2), chained(500, 2), 2])).toBe(false);
  expect(structurallyEqual([chained(500, 1)], [chained(500, 1)])).toBe(true);
  const throwing = {
    get a(): never {
      throw new Error('getter');
    },
  };
  expect(() =>
    structurallyEqual([chained(500, 1), throwing], [chained(500, 2), throwing, 1].slice(0, 2)),
  ).not.toThrow();
  expect(() => structurallyEqual([chained(500, 1), throwing], [chained(500, 2), { a: 1 }])).toThrow('getter');
  expect(structurallyEqual([chained(500, 1)], [chained(500, 1)])).toBe(true);
});

test('cycles, also below the depth at which pairs are compared later → compared, and it ends', () => {
  const cyclic = (length: number): unknown => {
    const end: { next?: unknown } = {};
    end.next = chained(length, end);
    return end;
  };
  expect(structurallyEqual(cyclic(3), cyclic(3))).toBe(true);
  expect(structurallyEqual(cyclic(700), cyclic(700))).toBe(true);
});

test('parts that are shared, level upon level → each pair is looked at a bounded number of times', () => {
  let looks = 0;
  const dag = (levels: number): object => {
    let value: object = {
      get leaf() {
        looks += 1;
        return 1;
      },
    };
    for (let level = 0; level < levels; level++) value = { left: value, right: value };
    return value;
  };
  expect(structurallyEqual(dag(40), dag(40))).toBe(true);
  expect(looks).toBeLessThan(2000);
});

test('sets and maps whose items are objects → equal by content in any order; each is looked at few times', () => {
  let looks = 0;
  const rows = (count: number, last = 0) =>
    Array.from({ length: count }, (_, id) => ({
      get id() {
        looks += 1;
        return id;
      },
      more: { last: id === count - 1 ? last : 0 },
    }));
  const count = 2_000;
  expect(structurallyEqual(new Set(rows(count)), new Set(rows(count).toReversed()))).toBe(true);
  expect(looks).toBeLessThan(20 * count);
  expect(structurallyEqual(new Set(rows(count)), new Set(rows(count, 1)))).toBe(false);
  const map = (items: object[]) => new Map(items.map((item, at) => [item, at % 2]));
  expect(structurallyEqual(map([{ a: 1 }, { b: 2 }]), map([{ a: 1 }, { b: 2 }]))).toBe(true);
  expect(structurallyEqual(map([{ a: 1 }, { b: 2 }]), map([{ b: 2 }, { a: 1 }]))).toBe(false);
  expect(structurallyEqual(new Set([{ a: 1, b: 2 }]), new Set([{ b: 2, a: 1 }]))).toBe(true);
  expect(structurallyEqual(new Set([{ a: 1 }, { a: 1 }]), new Set([{ a: 1 }, { a: 2 }]))).toBe(false);
});

test('the parts of a join have deep values → the join is final', async () => {
  const parts = [manual(), manual()] as const;
  const joined = all([parts[0].c, parts[1].c]);
  for (const level of ['weak', 'strong'] as const) {
    for (const { sink } of parts) sink.update(chained(20_000), level);
  }
  expect(await joined).toHaveLength(2);
  expect(joined.latest).toMatchObject({ level: 'strong', confirms: true });
});

class Money {
  readonly cents: number;
  constructor(cents: number) {
    this.cents = cents;
  }
}
const bytes = (...items: number[]): Uint8Array => Uint8Array.from(items);
const bare = (fields: object): object => Object.assign(Object.create(null) as object, fields);

test.each<[what: string, a: unknown, b: unknown, isEqual: boolean]>([
  ['NaN', [Number.NaN], [Number.NaN], true],
  ['0 and -0', [0], [-0], false],
  ['keys in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['a key more', { a: 1 }, { a: 1, b: 2 }, false],
  ['a key that is undefined, and none', { a: undefined, b: 1 }, { c: undefined, b: 1 }, false],
  ['an item more', [1], [1, 2], false],
  ['a list and an object', [], {}, false],
  ['a list and an object like it', [1], { 0: 1, length: 1 }, false],
  ['no prototype', bare({ a: 1 }), bare({ a: 1 }), true],
  ['a prototype and none', { a: 1 }, bare({ a: 1 }), false],
  ['instances of a class', new Money(1), new Money(1), false],
  ['dates', new Date(1), new Date(1), true],
  ['dates that differ', new Date(1), new Date(2), false],
  ['a date and a map', new Date(1), new Map(), false],
  ['maps whose values differ', new Map([['a', 1]]), new Map([['a', 2]]), false],
  ['sets of which one has more', new Set([1]), new Set([1, 2]), false],
  ['a set and a map', new Set(), new Map(), false],
  ['items that are equal to one another', new Set([{ a: 1 }, { a: 1 }]), new Set([{ a: 1 }, { a: 2 }]), false],
  ['bytes', bytes(1, 2), bytes(1, 2), true],
  ['bytes that differ', bytes(1, 2), bytes(1, 3), false],
  ['part of a buffer', bytes(1, 2, 3).subarray(1), bytes(2, 3), true],
  ['bytes, those of Node too', bytes(1, 2), Buffer.from([1, 2]), true],
  ['numbers of another kind', Float64Array.of(1), Float64Array.of(2), false],
  ['part of numbers', Float64Array.of(1, 2).subarray(1), Float64Array.of(2), true],
  ['a buffer', bytes(1).buffer, bytes(1).buffer, true],
])('%s → from both sides the same', (_, a, b, isEqual) => {
  expect([structurallyEqual(a, b), structurallyEqual(b, a)]).toEqual([isEqual, isEqual]);
});
