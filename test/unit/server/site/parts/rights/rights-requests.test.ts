/** Questions for what is not here yet: which are kept, and for how long. */
import { expect, test } from 'vitest';
import type { RightsRequest } from '../../../../../../src/server/service/records/records.ts';
import {
  formatFieldKey,
  EarlyRequests,
} from '../../../../../../src/server/site/parts/rights/rights-requests.ts';
import { siteAt } from '../../../../../support/origins.ts';

const SEATS = { table: 'events', key: 'E', field: 'seats' };
const NAME = formatFieldKey(SEATS);

/** Of a site, for so many, kept until 10. */
function question(site: number, amount: number, value: Partial<RightsRequest> = {}) {
  return { from: siteAt(site), request: { ...SEATS, amount, ...value }, seenStamp: 0, untilMs: 10 };
}

const amounts = (early: EarlyRequests, nowMs = 0): readonly number[] =>
  early.takeForFields([NAME], nowMs).map(({ request }) => request.amount);

test('the newest of each site → taken out once', () => {
  const early = new EarlyRequests();
  for (const item of [question(0, 1), question(1, 2), question(0, 3)]) early.add(item);
  expect(early.takeForFields([formatFieldKey({ ...SEATS, key: 'F' })], 0)).toEqual([]);
  expect([amounts(early).toSorted(), amounts(early)]).toEqual([[2, 3], []]);
});

test.each(['here', 'pool'] as const)(
  'a site waits (%s) → a later early request does not replace it',
  (target) => {
    const early = new EarlyRequests();
    for (const item of [question(0, 1, { target }), question(0, 2)]) early.add(item);
    expect(amounts(early)).toEqual([1]);
    for (const entry of [question(0, 2), question(0, 1, { target })]) early.add(entry);
    expect(amounts(early)).toEqual([1]);
  },
);

test('a site waits here, and then for the pool → the newest request stands for both', () => {
  const early = new EarlyRequests();
  for (const item of [question(0, 1, { target: 'here' }), question(0, 2, { target: 'pool' })])
    early.add(item);
  expect(amounts(early)).toEqual([2]);
});

test.each([
  [9, [1]],
  [10, []],
])('after %i ms of 10 → %j', (nowMs, expected) => {
  const early = new EarlyRequests();
  early.add(question(0, 1));
  expect(amounts(early, nowMs)).toEqual(expected);
  early.add(question(0, 1));
  early.evict(nowMs);
  expect(amounts(early)).toEqual(expected);
});

test('more fields than are kept → those that were asked for first are forgotten', () => {
  const early = new EarlyRequests();
  const keys = Array.from({ length: 2000 }, (_, n) => `E${n}`);
  for (const key of keys) early.add(question(0, 1, { key }));
  const taken = early.takeForFields(
    keys.map((key) => formatFieldKey({ ...SEATS, key })),
    0,
  );
  expect([taken.length, taken[0]?.request.key]).toEqual([1024, 'E976']);
});
