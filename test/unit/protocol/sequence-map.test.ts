/** A table by number behaves like a map, whatever the order of what is done to it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SequenceMap } from '../../../src/protocol/sequence-map.ts';

const id = fc.oneof(fc.nat(100), fc.maxSafeNat());
const step = fc.tuple(fc.constantFrom('set', 'delete'), id);

test('numbered table: any sequence of steps → the same as a map', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
      const table = new SequenceMap<{ n: number }>();
      const map = new Map<number, { n: number }>();
      steps.forEach(([description, key], n) => {
        if (description === 'set') {
          table.set(key, { n });
          map.set(key, { n });
        } else {
          expect(table.remove(key)).toEqual(map.get(key));
          map.delete(key);
        }
        expect(table.size).toBe(map.size);
        expect(table.get(key)).toEqual(map.get(key));
      });
      const seen = new Map<number, { n: number }>();
      table.forEach((entry, key) => void seen.set(key, entry));
      expect(seen).toEqual(map);
    }),
    { numRuns: 30 },
  );
});

test('numbered table: increasing numbers → iterated in order until the callback returns false, also while deleting', () => {
  const table = new SequenceMap<{ n: number }>();
  for (let n = 1; n <= 100; n++) table.set(n, { n });
  const seen: number[] = [];
  table.forEach((_, key) => {
    seen.push(key);
    table.delete(key);
    return key < 70;
  });
  expect(seen).toEqual(Array.from({ length: 70 }, (_, n) => n + 1));
  expect(table.size).toBe(30);
  table.clear();
  expect([table.size, table.get(80)]).toEqual([0, undefined]);
});

test('numbered table: emptied and filled again while it is gone through → each entry is met under its own number', () => {
  const table = new SequenceMap<{ n: number }>();
  for (let n = 0; n < 32; n++) table.set(n, { n });
  const encountered: [number, number][] = [];
  table.forEach(({ n }, key) => {
    encountered.push([n, key]);
    table.delete(key);
    if (key === 31) for (let next = 32; next < 64; next++) table.set(next, { n: next });
    else if (n < 32) table.set(100 + n, { n: 100 + n });
  });
  expect(encountered.length).toBeGreaterThan(63);
  for (const [n, key] of encountered) expect(n).toBe(key);
});
