/** The list of those who wait for rights: of which operations somebody does. */
import { expect, test } from 'vitest';
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
