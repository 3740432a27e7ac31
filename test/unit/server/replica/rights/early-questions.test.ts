/** Questions for what is not here yet: which are kept, and for how long. */
import { expect, test } from 'vitest';
import type { AskedRights } from '../../../../../src/server/records/records.ts';
import { EarlyQuestions } from '../../../../../src/server/replica/rights/early-questions.ts';
import { nameOf } from '../../../../../src/server/replica/rights/field-name.ts';
import { siteAt } from '../../../../support/origins.ts';

const SEATS = { table: 'events', key: 'E', field: 'seats' };
const NAME = nameOf(SEATS);

/** Of a site, for so many, kept until 10. */
function question(site: number, amount: number, given: Partial<AskedRights> = {}) {
  return { from: siteAt(site), asked: { ...SEATS, amount, ...given }, seen: 0, untilMs: 10 };
}

const amounts = (early: EarlyQuestions, nowMs = 0): readonly number[] =>
  early.takeOf([NAME], nowMs).map(({ asked }) => asked.amount);

test('the newest of each site → taken out once', () => {
  const early = new EarlyQuestions();
  for (const each of [question(0, 1), question(1, 2), question(0, 3)]) early.keep(each);
  expect(early.takeOf([nameOf({ ...SEATS, key: 'F' })], 0)).toEqual([]);
  expect([amounts(early).toSorted(), amounts(early)]).toEqual([[2, 3], []]);
});

test.each(['here', 'pool'] as const)(
  'somebody waits (%s) → what is asked for later does not take its place',
  (waits) => {
    const early = new EarlyQuestions();
    for (const each of [question(0, 1, { waits }), question(0, 2)]) early.keep(each);
    expect(amounts(early)).toEqual([1]);
    for (const each of [question(0, 2), question(0, 1, { waits })]) early.keep(each);
    expect(amounts(early)).toEqual([1]);
  },
);

test('somebody waits here, and then for the pool → the newest stands for both', () => {
  const early = new EarlyQuestions();
  for (const each of [question(0, 1, { waits: 'here' }), question(0, 2, { waits: 'pool' })]) early.keep(each);
  expect(amounts(early)).toEqual([2]);
});

test.each([
  [9, [1]],
  [10, []],
])('after %i ms of 10 → %j', (nowMs, expected) => {
  const early = new EarlyQuestions();
  early.keep(question(0, 1));
  expect(amounts(early, nowMs)).toEqual(expected);
  early.keep(question(0, 1));
  early.forget(nowMs);
  expect(amounts(early)).toEqual(expected);
});

test('more fields than are kept → those that were asked for first are forgotten', () => {
  const early = new EarlyQuestions();
  const keys = Array.from({ length: 2000 }, (_, n) => `E${n}`);
  for (const key of keys) early.keep(question(0, 1, { key }));
  const taken = early.takeOf(
    keys.map((key) => nameOf({ ...SEATS, key })),
    0,
  );
  expect([taken.length, taken[0]?.asked.key]).toEqual([1024, 'E976']);
});
