/**
 * What bounds the updates of others that a view cannot know of: places, turns, and how long
 * agreement takes.
 */
import { expect, test } from 'vitest';
import { CommitLatency } from '../../../src/correctable/throttle/commit-latency.ts';
import { ThrottleSlots } from '../../../src/correctable/throttle/throttle-slots.ts';
import { computeMaxConcurrentWrites } from '../../../src/correctable/throttle/concurrent-writes.ts';

test('unseen: no other client → none; another one without a pace → no bound', () => {
  expect(computeMaxConcurrentWrites({ commitLatencyMs: 1000, throttles: [] })).toBe(0);
  expect(
    computeMaxConcurrentWrites({
      commitLatencyMs: 0,
      throttles: [{ maxInFlight: 5, minSlotIntervalMs: 0 }],
    }),
  ).toBe(Infinity);
});

test('unseen: a full window in flight, and one more for every turn that begins meanwhile', () => {
  const throttles = [{ maxInFlight: 5, minSlotIntervalMs: 20 }];
  const at = (commitLatencyMs: number): number =>
    computeMaxConcurrentWrites({ commitLatencyMs, throttles });
  expect([at(0), at(1), at(20), at(21), at(100)]).toEqual([5, 10, 10, 15, 30]);
  expect(
    computeMaxConcurrentWrites({
      commitLatencyMs: 100,
      throttles: [...throttles, { maxInFlight: 1, minSlotIntervalMs: 200 }],
    }),
  ).toBe(32);
});

test('places: all taken → none; one that is left early rests until its turn is over', () => {
  const places = new ThrottleSlots({ maxInFlight: 2, minSlotIntervalMs: 40 });
  expect([places.tryAcquire(0), places.tryAcquire(10), places.tryAcquire(10)]).toEqual([
    true,
    true,
    false,
  ]);
  places.release(10, 15);
  places.release(0, 20);
  expect(places.nextFreeAtMs).toBe(40);
  expect([
    places.tryAcquire(39),
    places.tryAcquire(40),
    places.tryAcquire(49),
    places.tryAcquire(50),
  ]).toEqual([false, true, false, true]);
  places.release(40, 100);
  expect([places.nextFreeAtMs, places.tryAcquire(100)]).toEqual([undefined, true]);
});

test('places: the clock is set back → a place rests for one turn, not until the clock is where it was', () => {
  const places = new ThrottleSlots({ maxInFlight: 2, minSlotIntervalMs: 40 });
  expect([places.tryAcquire(60_000), places.tryAcquire(60_000)]).toEqual([true, true]);
  places.release(60_000, 60_010);
  places.release(60_000, 10);
  expect([places.tryAcquire(10), places.nextFreeAtMs]).toEqual([false, 50]);
  expect([places.tryAcquire(50), places.tryAcquire(50), places.tryAcquire(50)]).toEqual([
    true,
    true,
    false,
  ]);
});

test('agreement: nothing seen yet → not known', () => {
  const agreement = new CommitLatency();
  agreement.discard(agreement.begin(0));
  expect(agreement.estimateMs(1000)).toBeUndefined();
});

test('agreement: the clock is set back meanwhile → nothing is learnt of that one', () => {
  const agreement = new CommitLatency();
  agreement.end(agreement.begin(60_000), 10);
  expect(agreement.estimateMs(10)).toBeUndefined();
  agreement.end(agreement.begin(10), 110);
  agreement.end(agreement.begin(110), 50);
  expect(agreement.estimateMs(110)).toBeGreaterThan(100);
});

test('agreement: as long as the slowest lately, and longer than the oldest one has waited', () => {
  const agreement = new CommitLatency();
  agreement.end(agreement.begin(0), 100);
  agreement.end(agreement.begin(100), 120);
  const usual = agreement.estimateMs(200) as number;
  expect(usual).toBeGreaterThan(100);
  expect(usual).toBeLessThan(200);
  const waiting = agreement.begin(200);
  expect(agreement.estimateMs(250)).toBe(usual);
  expect(agreement.estimateMs(1200)).toBeGreaterThan(1000);
  agreement.discard(waiting);
  expect(agreement.estimateMs(1200)).toBe(usual);
});

test('agreement: a slow one is forgotten by and by, once faster ones have come; not by waiting', () => {
  const agreement = new CommitLatency();
  agreement.end(agreement.begin(0), 1000);
  expect(agreement.estimateMs(600_000)).toBe(agreement.estimateMs(1000));
  for (let atMs = 1000; atMs < 30_000; atMs += 100) agreement.end(agreement.begin(atMs), atMs + 20);
  expect(agreement.estimateMs(30_000)).toBeLessThan(50);
});
