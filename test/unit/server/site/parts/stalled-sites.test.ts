/** Sites that are heard, and confirm nothing. */
// @rule CLU-A3a
import { expect, test } from 'vitest';
import { StalledSites } from '../../../../../src/server/site/parts/stalled-sites.ts';
import { siteAt } from '../../../../support/origins.ts';

const SITE = siteAt(1);

test('a site that is heard and confirms nothing for a minute → is reported once, and again after it got on', () => {
  const stalled = new StalledSites();
  const reportedAt: number[] = [];
  for (let nowMs = 0; nowMs <= 300_000; nowMs += 10_000) {
    const confirmed = nowMs < 150_000 ? 7 : 8;
    if (stalled.note(SITE, { confirmed, backlog: 3, heardAtMs: nowMs }, nowMs))
      reportedAt.push(nowMs);
  }
  expect(reportedAt).toEqual([60_000, 210_000]);
});

test('a site that was disconnected for long → its minute begins when it is connected again', () => {
  const stalled = new StalledSites();
  const reportedAt: number[] = [];
  for (let nowMs = 0; nowMs <= 300_000; nowMs += 10_000) {
    if (nowMs === 10_000) stalled.setConnected(SITE, false);
    // A message may come before the own connection is open.
    const heardAtMs = nowMs < 90_000 ? 0 : nowMs;
    if (nowMs === 100_000) stalled.setConnected(SITE, true);
    if (stalled.note(SITE, { confirmed: 7, backlog: 3, heardAtMs }, nowMs)) reportedAt.push(nowMs);
  }
  expect(reportedAt).toEqual([150_000]);
});

test.each([
  ['is away', { backlog: 3, isHeard: false, isMoving: false }],
  ['lacks nothing', { backlog: 0, isHeard: true, isMoving: false }],
  ['gets on', { backlog: 3, isHeard: true, isMoving: true }],
])('a site that %s → is not reported', (_what, { backlog, isHeard, isMoving }) => {
  const stalled = new StalledSites();
  for (let nowMs = 0; nowMs <= 300_000; nowMs += 10_000) {
    const progress = {
      confirmed: isMoving ? nowMs : 0,
      backlog,
      heardAtMs: isHeard ? nowMs : undefined,
    };
    expect(stalled.note(SITE, progress, nowMs)).toBe(false);
  }
});
