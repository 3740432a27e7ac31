import { expect, test } from 'vitest';
import { exponentialBackoff, neverReconnect } from '../../../src/correctable/backoff.ts';

const most = (): number => 0.999_999;
const least = (): number => 0;

test('backoff: consecutive attempts → upper bounds double up to the maximum', () => {
  const policy = exponentialBackoff({ initialDelayMs: 100, maxDelayMs: 500 });
  const delays = [1, 2, 3, 4, 5].map((attempt) => Math.round(policy.delayMs(attempt, most) ?? -1));
  expect(delays).toEqual([100, 200, 400, 500, 500]);
});

test('backoff: jitter → never less than half of the bound', () => {
  expect(exponentialBackoff({ initialDelayMs: 100 }).delayMs(1, least)).toBe(50);
});

test('backoff: attempts used up → gives up', () => {
  const policy = exponentialBackoff({ maxAttempts: 2 });
  expect(policy.delayMs(2, least)).toBeTypeOf('number');
  expect(policy.delayMs(3, least)).toBeUndefined();
  expect(neverReconnect.delayMs(1, least)).toBeUndefined();
});

test('backoff: no options → from 100 ms up to 5 s, for ever', () => {
  const policy = exponentialBackoff();
  expect([1, 2, 7, 1000].map((attempt) => policy.delayMs(attempt, least))).toEqual([
    50, 100, 2_500, 2_500,
  ]);
});
