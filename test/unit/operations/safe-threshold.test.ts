/** How many items a view shows as left, and how many it must for its own to be there in the end. */
import { expect, test } from 'vitest';
import { getRemaining, getSafeThreshold } from '../../../src/operations/index.ts';

const weak = (meta?: Readonly<Record<string, unknown>>): number =>
  getSafeThreshold({ final: false, level: 'weak', ...(meta && { meta }) });

test('remaining: the number of the store, or NaN, which is not enough for any threshold', () => {
  expect(getRemaining({ meta: { remaining: 7 } })).toBe(7);
  for (const view of [{}, { meta: {} }, { meta: { remaining: '7' } }]) {
    expect(getRemaining(view)).toBe(NaN);
    expect(getRemaining(view) >= 0).toBe(false);
  }
});

test('safe threshold: what others may take before → that many', () => {
  const concurrentWriters = {
    commitLatencyMs: 100,
    throttles: [{ maxInFlight: 5, minSlotIntervalMs: 20 }],
  };
  expect(weak({ remaining: 7, concurrentWriters })).toBe(30);
});

test('safe threshold: no other client takes → 0; a final view at strong → 0, whatever an earlier one had', () => {
  const concurrentWriters = {
    commitLatencyMs: 100,
    throttles: [{ maxInFlight: 5, minSlotIntervalMs: 20 }],
  };
  expect(weak({ concurrentWriters: { commitLatencyMs: 0, throttles: [] } })).toBe(0);
  expect(getSafeThreshold({ final: true, level: 'strong' })).toBe(0);
  expect(getSafeThreshold({ final: true, level: 'strong', meta: { concurrentWriters } })).toBe(0);
});

test('safe threshold: a weak view that is final, since nothing else was asked for → as if it were not', () => {
  const concurrentWriters = {
    commitLatencyMs: 100,
    throttles: [{ maxInFlight: 5, minSlotIntervalMs: 20 }],
  };
  expect(getSafeThreshold({ final: true, level: 'weak', meta: { concurrentWriters } })).toBe(30);
  expect(getSafeThreshold({ final: true, level: 'weak' })).toBe(Infinity);
});

test.each([
  undefined,
  {},
  { concurrentWriters: null },
  { concurrentWriters: 7 },
  { concurrentWriters: { commitLatencyMs: 5 } },
  { concurrentWriters: { commitLatencyMs: -1, throttles: [] } },
  { concurrentWriters: { commitLatencyMs: 5, throttles: [{ maxInFlight: 5 }] } },
  { concurrentWriters: { commitLatencyMs: 5, throttles: [null] } },
  { concurrentWriters: { commitLatencyMs: Number.NaN, throttles: [] } },
])('safe threshold: %j, which has no writers → no view is enough', (meta) => {
  expect(weak(meta)).toBe(Infinity);
});
