import { expect, test } from 'vitest';
import { SiteTime } from '../../../src/causal/site-time.ts';

const at = (elapsed: number) => ({ elapsed, wall: 1_000_000 + elapsed });

function createSiteTime(...offsets: number[]): SiteTime {
  const time = new SiteTime(offsets.length, 500);
  for (const [partition, offset] of offsets.entries())
    time.observeClock(partition, 1_000_100 + offset, { sentAt: 0, received: at(200) });
  return time;
}

test('the time of a site is the median of its clocks, and goes on between polls (CAUSAL-8)', () => {
  const time = createSiteTime(0, 40, 90);
  expect(time.at(at(200))).toBe(1_000_240);
  expect(time.at(at(300))).toBe(1_000_340);
});

test('before the first poll, the clock of the gateway counts (CAUSAL-8)', () => {
  expect(new SiteTime(3, 500).at(at(7))).toBe(1_000_007);
});

test('one wrong clock moves nothing, and only its partition is not trusted (CAUSAL-8)', () => {
  const time = createSiteTime(0, 10, 3_600_000);
  expect(time.at(at(200))).toBe(1_000_210);
  expect([0, 1, 2].map((partition) => time.isTrusted(partition))).toEqual([true, true, false]);
});

test('half the round trip is the error of a clock (CAUSAL-8)', () => {
  const time = createSiteTime(0, 0, 600);
  expect(time.isTrusted(2)).toBe(true);
  time.observeClock(2, 1_000_100 + 601, { sentAt: 0, received: at(200) });
  expect(time.isTrusted(2)).toBe(false);
});
