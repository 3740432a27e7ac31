/**
 * What sites remember of what they have asked for and answered: no longer than it makes a
 * difference.
 */
import { expect, test } from 'vitest';
import {
  AnsweredRequests,
  RightsRequests,
  formatFieldKey,
} from '../../../../../../src/server/site/parts/rights/rights-requests.ts';
import { siteAt } from '../../../../../support/origins.ts';

const SEATS = { table: 'events', key: 'E', field: 'seats' };
const COATS = { ...SEATS, field: 'coats' };
const [SEATS_NAME, COATS_NAME] = [formatFieldKey(SEATS), formatFieldKey(COATS)];
const [IRL, FRK] = [siteAt(0), siteAt(1)];

function answered(): AnsweredRequests {
  const all = new AnsweredRequests(100);
  all.add(IRL, SEATS_NAME, { stamp: 5, atMs: 0 });
  all.add(IRL, COATS_NAME, { stamp: 7, atMs: 0 });
  all.add(FRK, SEATS_NAME, { stamp: 6, atMs: 0 });
  return all;
}

test.each([
  { seen: 4, nowMs: 100, left: 3 },
  { seen: 6, nowMs: 99, left: 3 },
  { seen: 6, nowMs: 100, left: 2 },
  { seen: 7, nowMs: 100, left: 1 },
])(
  'who asks has seen up to $seen, after $nowMs ms of 100 → $left answers are left',
  ({ seen, nowMs, left }) => {
    const all = answered();
    all.isOnItsWay(IRL, SEATS_NAME, seen, nowMs);
    expect(all.size).toBe(left);
    expect(all.isOnItsWay(FRK, SEATS_NAME, 5, nowMs)).toBe(true);
  },
);

test('in flight → until the requesting site has seen it', () => {
  const all = answered();
  expect([4, 5].map((seen) => all.isOnItsWay(IRL, SEATS_NAME, seen, 200))).toEqual([true, false]);
});

test('answered once more → as new', () => {
  const all = answered();
  all.add(IRL, SEATS_NAME, { stamp: 8, atMs: 50 });
  expect([all.isOnItsWay(IRL, SEATS_NAME, 7, 100), all.size]).toEqual([true, 2]);
});

test('asked for long ago → forgotten with the next question', () => {
  const questions = new RightsRequests({ resendAfterMs: 10, reachTimeoutMs: 100 });
  questions.takeTurn(SEATS, 'here', 0);
  questions.takeTurn(COATS, 'here', 1);
  expect(questions.takeTurn(SEATS, 'here', 50)).toBe('again');
  questions.takeTurn(SEATS, 'pool', 100);
  expect(questions.size).toBe(3);
  questions.takeTurn(SEATS, 'pool', 120);
  expect([questions.size, questions.takeTurn(SEATS, 'here', 120)]).toEqual([2, 'again']);
});

test('no reply → all sites are asked once it is overdue; after the wait has ended it counts as a first request', () => {
  const questions = new RightsRequests({ resendAfterMs: 10, reachTimeoutMs: 100 });
  const name = { table: 'events', key: 'E', field: 'seats' };
  const turns = [0, 5, 10, 200].map((nowMs) => questions.takeTurn(name, 'later', nowMs));
  expect(turns).toEqual(['first', undefined, 'again', 'first']);
});
