/** How many items a view shows as left, and how many it must for its own to be there in the end. */
import { expect, test } from 'vitest';
import { getRemaining, getSafeThreshold } from '../../../src/operations/index.ts';

const weak = (meta?: Readonly<Record<string, unknown>>): number =>
  getSafeThreshold({ final: false, level: 'weak', ...(meta && { meta }) });

test('remaining: what the store says; where it says nothing, a number that is not enough for any threshold', () => {
  expect(getRemaining({ meta: { remaining: 7 } })).toBe(7);
  for (const view of [{}, { meta: {} }, { meta: { remaining: '7' } }]) {
    expect(getRemaining(view)).toBe(NaN);
    expect(getRemaining(view) >= 0).toBe(false);
  }
});

test('safe threshold: what others may take before → that many', () => {
  const elsewhere = { withinMs: 100, others: [{ window: 5, turnMs: 20 }] };
  expect(weak({ remaining: 7, elsewhere })).toBe(30);
});

test('safe threshold: nobody else takes → 0; a final view at strong → 0, whatever an earlier one said', () => {
  const elsewhere = { withinMs: 100, others: [{ window: 5, turnMs: 20 }] };
  expect(weak({ elsewhere: { withinMs: 0, others: [] } })).toBe(0);
  expect(getSafeThreshold({ final: true, level: 'strong' })).toBe(0);
  expect(getSafeThreshold({ final: true, level: 'strong', meta: { elsewhere } })).toBe(0);
});

test('safe threshold: a weak view that is final, since nothing else was asked for → as if it were not', () => {
  const elsewhere = { withinMs: 100, others: [{ window: 5, turnMs: 20 }] };
  expect(getSafeThreshold({ final: true, level: 'weak', meta: { elsewhere } })).toBe(30);
  expect(getSafeThreshold({ final: true, level: 'weak' })).toBe(Infinity);
});

test.each([
  undefined,
  {},
  { elsewhere: null },
  { elsewhere: 7 },
  { elsewhere: { withinMs: 5 } },
  { elsewhere: { withinMs: -1, others: [] } },
  { elsewhere: { withinMs: 5, others: [{ window: 5 }] } },
  { elsewhere: { withinMs: 5, others: [null] } },
  { elsewhere: { withinMs: Number.NaN, others: [] } },
])('safe threshold: %j, which says nothing → no view is enough', (meta) => {
  expect(weak(meta)).toBe(Infinity);
});
