/** The bucket of permits. */
import { expect, test } from 'vitest';
import { RateLimit } from '../../../../../src/server/gateway/limits/rate-limit.ts';

test('rate limit: one second used up → the time until the next permit, then one permit', () => {
  const limit = new RateLimit(10, 0);
  for (let n = 0; n < 10; n++) expect(limit.tryTake(0)).toBe(0);
  expect(limit.tryTake(0)).toBe(100);
  expect(limit.tryTake(40)).toBe(60);
  expect(limit.tryTake(100)).toBe(0);
  expect(limit.tryTake(100)).toBe(100);
});

test('rate limit: long idle → no more than one second is saved', () => {
  const limit = new RateLimit(5, 0);
  for (let n = 0; n < 5; n++) expect(limit.tryTake(3_600_000)).toBe(0);
  expect(limit.tryTake(3_600_000)).toBeGreaterThan(0);
});

test('rate limit: clock set back → neither permits out of nothing, nor an endless wait', () => {
  const limit = new RateLimit(1, 10_000);
  expect(limit.tryTake(10_000)).toBe(0);
  expect(limit.tryTake(0)).toBe(1000);
  expect(limit.tryTake(1000)).toBe(0);
});

test('rate limit: none → never waits', () => {
  expect(new RateLimit(Infinity, 0).tryTake(0)).toBe(0);
});
