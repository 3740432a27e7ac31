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

test('replies that waited for a blocked gateway move no time, and no clock is off (CAUSAL-8)', () => {
  const time = createSiteTime(0, 0, 0, 0);
  // Blocked for 1,200: three clocks were read at its start, and one after its end.
  for (const partition of [0, 1, 2])
    time.observeClock(partition, 1_000_210, { sentAt: 200, received: at(1_400) });
  time.observeClock(3, 1_001_400, { sentAt: 1_400, received: at(1_400) });
  expect(time.at(at(1_400))).toBe(1_001_400);
  expect([0, 1, 2, 3].map((partition) => time.isTrusted(partition))).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

test('a clock that was only read over slow trips counts as it was last read (CAUSAL-8)', () => {
  const time = new SiteTime(2, 500);
  for (const partition of [0, 1])
    time.observeClock(partition, 1_000_000, { sentAt: 0, received: at(800) });
  for (const partition of [0, 1])
    time.observeClock(partition, 1_001_400, { sentAt: 1_000, received: at(1_800) });
  expect(time.at(at(1_800))).toBe(1_001_800);
});
