/** A resent red operation gets its outcome once the outcome has passed the gate, and only once. */
import { expect, test } from 'vitest';
import type { Submission } from '../../../../../../src/server/site/core/submissions.ts';
import { RedOutcomes } from '../../../../../../src/server/site/lane/order/red-outcomes.ts';
import { OutcomeWaiters } from '../../../../../../src/server/site/lane/requests/outcome-waiters.ts';

const id = 'client/1';
const answer = { reply: { value: 7 } } as never;
const asks = (serial: number) => ({ serial }) as Submission;

function createWaiters(): {
  readonly waiters: OutcomeWaiters;
  readonly reported: readonly (readonly [number, unknown])[];
} {
  const reported: [number, unknown][] = [];
  const waiters = new OutcomeWaiters(
    ({ serial }, _stage, value) => void reported.push([serial, value]),
  );
  return { waiters, reported };
}

test('asked before the outcome → notified with the outcome, and then forgotten', () => {
  const { waiters, reported } = createWaiters();
  waiters.add(id, asks(1));
  expect(reported).toEqual([]);
  waiters.onEnded(id, answer);
  waiters.onEnded(id, answer);
  expect(reported).toEqual([[1, answer]]);
});

test('asked twice before the outcome → the first gets an error, the latest gets the outcome', () => {
  const { waiters, reported } = createWaiters();
  waiters.add(id, asks(1));
  waiters.add(id, asks(2));
  waiters.onEnded('client/2', answer);
  waiters.onEnded(id, answer);
  expect(reported).toEqual([
    [1, expect.objectContaining({ code: expect.any(String) })],
    [2, answer],
  ]);
});

test('asked after the outcome → it is kept; another operation is unknown', () => {
  const outcomes = new RedOutcomes();
  outcomes.set(id, answer);
  expect([outcomes.get(id), outcomes.get('client/2')]).toEqual([answer, undefined]);
});
