/** Places and turns to the millisecond, and how long agreement takes by the numbers. */
import { expect, test } from 'vitest';
import { CommitLatency } from '../../../src/correctable/throttle/commit-latency.ts';
import { ThrottleSlots } from '../../../src/correctable/throttle/throttle-slots.ts';
import { computeMaxConcurrentWrites } from '../../../src/correctable/throttle/concurrent-writes.ts';

test('unseen: turns shorter than a millisecond → are turns', () => {
  expect(
    computeMaxConcurrentWrites({
      commitLatencyMs: 2,
      throttles: [{ maxInFlight: 1, minSlotIntervalMs: 0.5 }],
    }),
  ).toBe(5);
});

test('places: one is left when its turn is over → it is free, and no other', () => {
  const places = new ThrottleSlots({ maxInFlight: 1, minSlotIntervalMs: 40 });
  expect(places.tryAcquire(0)).toBe(true);
  places.release(0, 40);
  expect([places.nextFreeAtMs, places.tryAcquire(40), places.tryAcquire(40)]).toEqual([
    undefined,
    true,
    false,
  ]);
});

test('places: left one after the other → free in that order', () => {
  const places = new ThrottleSlots({ maxInFlight: 3, minSlotIntervalMs: 40 });
  for (const atMs of [0, 10, 20]) expect(places.tryAcquire(atMs)).toBe(true);
  for (const atMs of [0, 10, 20]) places.release(atMs, 30);
  expect([
    places.nextFreeAtMs,
    places.tryAcquire(40),
    places.nextFreeAtMs,
    places.tryAcquire(50),
  ]).toEqual([40, true, 50, true]);
  expect([places.nextFreeAtMs, places.isIdle(59), places.isIdle(60)]).toEqual([60, false, true]);
});

test('places: never used → idle, and no place is pausing', () => {
  const places = new ThrottleSlots({ maxInFlight: 1, minSlotIntervalMs: 40 });
  expect([places.isIdle(0), places.nextFreeAtMs]).toEqual([true, undefined]);
});

test('agreement: one and a half times as long, and a tick of the clock; of a slow one half as much after 5 s', () => {
  const agreement = new CommitLatency();
  agreement.end(agreement.begin(0), 0);
  expect(agreement.estimateMs(0)).toBe(1.5);
  agreement.end(agreement.begin(0), 100);
  agreement.end(agreement.begin(50), 100);
  expect(agreement.estimateMs(100)).toBe(1.5 * (100 + 1));
  agreement.end(agreement.begin(5_100), 5_100);
  expect(agreement.estimateMs(5_100)).toBe(1.5 * (50 + 1));
  agreement.end(agreement.begin(10_100), 10_100);
  expect(agreement.estimateMs(10_100)).toBe(1.5 * (25 + 1));
});
