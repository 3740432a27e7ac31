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
