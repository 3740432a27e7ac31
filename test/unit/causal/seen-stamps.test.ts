import { expect, test } from 'vitest';
import { SeenStamps } from '../../../src/causal/seen-stamps.ts';

const MS = 1_000;

function see(...stamps: readonly number[]): SeenStamps {
  const seen = new SeenStamps();
  for (const stamp of stamps) seen.note(stamp);
  return seen;
}

test('stamps in any order → the highest, and the highest up to a limit', () => {
  const seen = see(5 * MS, 9 * MS, 7 * MS);
  expect(seen.highest).toBe(9 * MS);
  expect(seen.findUpTo(9 * MS - 1)).toBe(5 * MS);
  expect(seen.findUpTo(9 * MS)).toBe(9 * MS);
  expect(seen.findUpTo(1)).toBe(0);
});

test('several stamps within a millisecond → the last of them', () => {
  const seen = see(5 * MS + 1, 5 * MS + 900, 6 * MS);
  expect(seen.findUpTo(5 * MS + 950)).toBe(5 * MS + 900);
  expect(seen.findUpTo(5 * MS + 800)).toBe(0);
});

test('a heal → only what came after it is kept', () => {
  const seen = see(5 * MS, 9 * MS, 12 * MS);
  seen.restart(10 * MS, 4 * MS);
  expect(seen.highest).toBe(12 * MS);
  expect(seen.findUpTo(11 * MS)).toBe(4 * MS);
  seen.restart(20 * MS, 2 * MS);
  expect(seen.highest).toBe(2 * MS);
});

test('a stamp in each of 10,000 milliseconds → those of the last seconds are kept', () => {
  const seen = see(...Array.from({ length: 10_000 }, (_, at) => at * MS));
  expect(seen.highest).toBe(9_999 * MS);
  expect(seen.findUpTo(7_000 * MS + 1)).toBe(7_000 * MS);
});
