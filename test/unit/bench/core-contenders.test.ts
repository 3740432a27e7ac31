/** What is timed does what it is named after: who delivers nothing would be the fastest. */
import { describe, expect, test } from 'vitest';
import {
  awaited,
  callbacks,
  drive,
  invokeMemory,
  OUTSTANDING,
  promise,
  rxjs,
  rxjsCheapest,
  seen,
  speculateHit,
  valuesOf,
  type Way,
} from '../../../bench/core/contenders.ts';

/** How often callbacks were called, by operation. */
async function calls(operations: number, run: () => unknown): Promise<number> {
  const before = seen.count;
  await run();
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  return (seen.count - before) / operations;
}

const WAYS: readonly (readonly [string, () => Way, number])[] = [
  ['promise', promise, 1],
  ['callbacks', callbacks, 2],
  ['awaited', awaited, 1],
  ['speculate-hit', speculateHit, 1],
  ['rxjs', rxjs, 1],
  // Both values, and the end.
  ['rxjs, cheapest', rxjsCheapest, 3],
];

describe.each(WAYS)('%s', (_name, way, times) => {
  test('one result → as many calls as it has', async () => {
    const [{ preliminary, final }, one] = [valuesOf('object'), way()];
    const finish = (): void => one.finish(1, preliminary[0], final[0]);
    expect(await calls(1, () => one.start(1))).toBe(0);
    expect(await calls(1, finish)).toBe(times);
  });

  test('driven → every result is completed', async () => {
    const operations = 2 * OUTSTANDING;
    const all = operations + OUTSTANDING;
    expect(await calls(all, () => drive(way(), valuesOf('string'), operations))).toBe(times);
  });
});

test.each(['string', 'object', 'shared object'] as const)(
  'invoke, %s → the preliminary view is delivered, too',
  async (kind) => {
    // The final view has a callback of its own, without which it would not end.
    expect(await calls(OUTSTANDING, () => invokeMemory(kind, OUTSTANDING))).toBe(1);
  },
);

test('values: equal in both views, and one object only where it is said', () => {
  for (const kind of ['string', 'object', 'shared object'] as const) {
    const { preliminary, final } = valuesOf(kind);
    expect(final).toEqual(preliminary);
    expect(new Set(final).size).toBe(OUTSTANDING);
    if (kind === 'object') expect(final.some((value, n) => value === preliminary[n])).toBe(false);
    if (kind === 'shared object') expect(final.every((value, n) => value === preliminary[n])).toBe(true);
  }
});
