/** What is timed does what it is named after: who delivers nothing would be the fastest. */
import { correctable } from 'correctables';
import { describe, expect, test } from 'vitest';
import { barsOf } from '../../../bench/core/bench.ts';
import {
  awaited,
  callbacks,
  drive,
  invokeMemory,
  OUTSTANDING,
  promise,
  promiseAwaited,
  rxjs,
  rxjsAwaited,
  rxjsCheapest,
  rxjsObservable,
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
  ['promise, awaited', promiseAwaited, 1],
  ['callbacks', callbacks, 2],
  ['awaited', awaited, 1],
  ['speculate-hit', speculateHit, 1],
  ['rxjs', rxjs, 1],
  // Both values, and the end.
  ['rxjs, cheapest', rxjsCheapest, 3],
  ['rxjs, observable', rxjsObservable, 3],
  ['rxjs, awaited', rxjsAwaited, 1],
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

/** How often a program that waits calls `then` itself: who awaits leaves that to the engine. */
function thensOf(way: () => Way, waitedFor: { then: unknown }): number {
  const original = waitedFor.then as (...args: unknown[]) => unknown;
  let calls = 0;
  waitedFor.then = function (...args: unknown[]) {
    calls += 1;
    return Reflect.apply(original, this, args);
  };
  try {
    way().start(1);
    return calls;
  } finally {
    waitedFor.then = original;
  }
}

const [ofCorrectables, ofPromises] = [
  Object.getPrototypeOf(correctable(['strong'], () => {})) as { then: unknown },
  Promise.prototype as { then: unknown },
];

test.each([
  { what: 'a Correctable, awaited', way: awaited, waitedFor: ofCorrectables, calls: 0 },
  { what: 'a Promise, awaited', way: promiseAwaited, waitedFor: ofPromises, calls: 0 },
  { what: 'a Promise with a callback', way: promise, waitedFor: ofPromises, calls: 1 },
])('$what → its `then` is called $calls times by who waits', ({ way, waitedFor, calls }) => {
  expect(thensOf(way, waitedFor)).toBe(calls);
});

test('bars: what is awaited beside a Promise that is awaited, all else beside one with a callback', () => {
  const samples = new Map([
    ['promise', 100],
    ['promise, awaited', 50],
    ['awaited', 150],
    ['awaited, objects', 200],
    ['callbacks', 200],
  ] as const);
  const bars = barsOf(new Map([...samples].map(([name, ns]) => [name, [ns]])));
  expect(bars.map(({ name, value }) => [name, value])).toEqual([
    ['promise-awaited-vs-promise', 0.5],
    ['awaited-vs-promise', 3],
    ['awaited-objects-vs-promise', 4],
    ['callbacks-vs-promise', 2],
  ]);
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
