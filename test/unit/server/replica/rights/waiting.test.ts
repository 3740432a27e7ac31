/** The list of those who wait for rights: of which operations somebody does, what they lack, and who tries. */
import { describe, expect, test } from 'vitest';
import { Lack } from '../../../../../src/server/replica/core/rights-port.ts';
import { WaitingForRights } from '../../../../../src/server/replica/rights/waiting.ts';
import type { Submission } from '../../../../../src/server/records/submissions.ts';

const lack = new Lack([{ table: 'events', key: 'E', field: 'seats', amount: 1 }], false);
const FIELD = 'events\u0000seats\u0000E';

/** Who waits until 100, and goes on when `comes` says so. */
function waiting(serial: number, id: string, comes: () => boolean = () => false): WaitingForRights {
  const list = new WaitingForRights();
  const submission = { serial, identity: { id } } as Submission;
  const retry = (): Lack | undefined => (comes() ? undefined : lack);
  list.add({ waiter: { submission, retry, late: () => {} }, lack, untilMs: 100 });
  expect([list.hasOf(id), list.fields]).toEqual([true, [FIELD]]);
  return list;
}

const has = (list: WaitingForRights): unknown => [list.size, list.hasOf('ann/1'), list.wantedOf(FIELD)];
const NOTHING = [0, false, undefined];

test('who has left, whose time is over, and who has gone on → is not there any more', () => {
  const left = waiting(1, 'ann/1');
  expect(left.leave(1)?.serial).toBe(1);
  expect(has(left)).toEqual(NOTHING);

  const late = waiting(1, 'ann/1');
  expect(late.takeLate(99)).toEqual([]);
  expect(late.takeLate(100)).toHaveLength(1);
  expect(has(late)).toEqual(NOTHING);

  const served = waiting(1, 'ann/1', () => true);
  served.retry(new Set([FIELD]));
  expect(has(served)).toEqual(NOTHING);
});

const ofSeats = (amount: number) => ({ table: 'events', key: 'E', field: 'seats', amount });

/** Who waits until 100, and tells when he tries. */
function someone(serial: number, given: Lack, tried: number[] = []): Parameters<WaitingForRights['add']>[0] {
  const retry = (): Lack => {
    tried.push(serial);
    return given;
  };
  return { waiter: { submission: { serial } as Submission, retry, late: () => {} }, lack: given, untilMs: 100 };
}

describe('what they lack', () => {
  test('more than numbers count exactly, and all leave → nobody lacks anything', () => {
    const list = new WaitingForRights();
    const amounts = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 1, 1];
    const lacks = amounts.flatMap((amount) => [true, false].map((isRed) => new Lack([ofSeats(amount)], isRed)));
    for (const [at, each] of lacks.entries()) list.add(someone(at + 1, each));
    expect(list.wantedOf(FIELD)).toMatchObject({ amount: 2 ** 55, inRed: 2 ** 54, ofPool: 4 });
    for (const at of lacks.keys()) list.leave(at + 1);
    expect([list.size, list.fields]).toEqual([0, []]);
  });

  test('nothing of a field, beside some of another one → it is not counted there, and does not need the pool', () => {
    const list = new WaitingForRights();
    const coats = { table: 'events', key: 'E', field: 'coats', amount: 5 };
    list.add(someone(1, new Lack([ofSeats(0), coats], false)));
    expect([list.wantedOf(FIELD), list.wantedOf('events\u0000coats\u0000E')?.ofPool]).toEqual([undefined, 0]);
    list.add(someone(2, new Lack([ofSeats(5)], true)));
    expect(list.leave(1)?.serial).toBe(1);
    expect(list.wantedOf(FIELD)).toMatchObject({ amount: 5, inRed: 5, ofPool: 1 });
  });
});

describe('who tries, where one has not found what he lacks', () => {
  test.each([
    [true, true, 1, [1]],
    [true, false, 1, [1, 2]],
    [false, true, 1, [1, 2]],
    [true, true, 2, [1, 2]],
  ])('red: %j, the next one: %j, of %i → %j', (isRed, isNextRed, amount, expected) => {
    const list = new WaitingForRights();
    const tried: number[] = [];
    list.add(someone(1, new Lack([ofSeats(1)], isRed), tried));
    list.add(someone(2, new Lack([ofSeats(amount)], isNextRed), tried));
    list.retry(new Set([FIELD]));
    expect(tried).toEqual(expected);
  });
});
