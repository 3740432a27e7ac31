/**
 * The list of operations that wait for rights: which there are, what they lack, and which are tried
 * again.
 */
import { describe, expect, test } from 'vitest';
import { RightsShortfall } from '../../../../../../src/server/site/core/rights-port.ts';
import { RightsWaitList } from '../../../../../../src/server/site/parts/rights/rights-wait-list.ts';
import type { Submission } from '../../../../../../src/server/site/core/submissions.ts';

const shortfall = new RightsShortfall(
  [{ table: 'events', key: 'E', field: 'seats', amount: 1 }],
  false,
);
const FIELD = 'events\u0000seats\u0000E';

/** A list with one operation that waits until 100. It goes on when `hasCome` returns true. */
function waiting(serial: number, id: string, hasCome: () => boolean = () => false): RightsWaitList {
  const list = new RightsWaitList();
  const submission = { serial, identity: { id } } as Submission;
  const onRetry = (): RightsShortfall | undefined => (hasCome() ? undefined : shortfall);
  list.add({ waiter: { submission, onRetry, onTimeout: () => {} }, shortfall, untilMs: 100 });
  expect([list.hasOperation(id), list.fields]).toEqual([true, [FIELD]]);
  return list;
}

const has = (list: RightsWaitList): unknown => [
  list.size,
  list.hasOperation('ann/1'),
  list.getWanted(FIELD),
];
const NOTHING = [0, false, undefined];

test('an operation that was cancelled, has timed out or has gone on → is not in the list any more', () => {
  const left = waiting(1, 'ann/1');
  expect(left.cancel(1)?.serial).toBe(1);
  expect(has(left)).toEqual(NOTHING);

  const late = waiting(1, 'ann/1');
  expect(late.takeTimedOut(99)).toEqual([]);
  expect(late.takeTimedOut(100)).toHaveLength(1);
  expect(has(late)).toEqual(NOTHING);

  const served = waiting(1, 'ann/1', () => true);
  served.retry(new Set([FIELD]));
  expect(has(served)).toEqual(NOTHING);
});

const ofSeats = (amount: number) => ({ table: 'events', key: 'E', field: 'seats', amount });

/** An operation that waits until 100, and records its attempts in `tried`. */
function createEntry(
  serial: number,
  value: RightsShortfall,
  tried: number[] = [],
): Parameters<RightsWaitList['add']>[0] {
  const onRetry = (): RightsShortfall => {
    tried.push(serial);
    return value;
  };
  return {
    waiter: { submission: { serial } as Submission, onRetry, onTimeout: () => {} },
    shortfall: value,
    untilMs: 100,
  };
}

describe('what operations lack', () => {
  test('sums beyond safe integers are exact; when all have left, nothing is lacking', () => {
    const list = new RightsWaitList();
    const amounts = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 1, 1];
    const lacks = amounts.flatMap((amount) =>
      [true, false].map((isRed) => new RightsShortfall([ofSeats(amount)], isRed)),
    );
    for (const [at, item] of lacks.entries()) list.add(createEntry(at + 1, item));
    expect(list.getWanted(FIELD)).toMatchObject({ amount: 2 ** 55, inRed: 2 ** 54, ofPool: 4 });
    for (const at of lacks.keys()) list.cancel(at + 1);
    expect([list.size, list.fields]).toEqual([0, []]);
  });

  test('nothing of a field, beside some of another one → it is not counted there, and does not need the pool', () => {
    const list = new RightsWaitList();
    const coats = { table: 'events', key: 'E', field: 'coats', amount: 5 };
    list.add(createEntry(1, new RightsShortfall([ofSeats(0), coats], false)));
    expect([list.getWanted(FIELD), list.getWanted('events\u0000coats\u0000E')?.ofPool]).toEqual([
      undefined,
      0,
    ]);
    list.add(createEntry(2, new RightsShortfall([ofSeats(5)], true)));
    expect(list.cancel(1)?.serial).toBe(1);
    expect(list.getWanted(FIELD)).toMatchObject({ amount: 5, inRed: 5, ofPool: 1 });
  });
});

describe('which operations are tried if one has not found what it lacks', () => {
  test.each([
    [true, true, 1, [1]],
    [true, false, 1, [1, 2]],
    [false, true, 1, [1, 2]],
    [true, true, 2, [1, 2]],
  ])('red: %j, the next one: %j, of %i → %j', (isRed, isNextRed, amount, expected) => {
    const list = new RightsWaitList();
    const tried: number[] = [];
    list.add(createEntry(1, new RightsShortfall([ofSeats(1)], isRed), tried));
    list.add(createEntry(2, new RightsShortfall([ofSeats(amount)], isNextRed), tried));
    list.retry(new Set([FIELD]));
    expect(tried).toEqual(expected);
  });
});
