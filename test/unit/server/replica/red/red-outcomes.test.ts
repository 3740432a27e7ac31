/** A resent red operation gets its outcome once the outcome has passed the gate, and only once. */
import { expect, test } from 'vitest';
import type { Submission } from '../../../../../src/server/records/submissions.ts';
import { RedOutcomes } from '../../../../../src/server/replica/red/red-outcomes.ts';

const id = 'client/1';
const answer = { reply: { value: 7 } } as never;
const asks = (serial: number) => ({ serial }) as Submission;

function endings(): { readonly red: RedOutcomes; readonly reported: readonly (readonly [number, unknown])[] } {
  const reported: [number, unknown][] = [];
  const core = {
    options: {},
    reply: ({ serial }: Submission, _stage: unknown, value: unknown) => void reported.push([serial, value]),
  };
  return { red: new RedOutcomes(core as never), reported };
}

test('asked before the outcome → notified with the outcome, and then forgotten', () => {
  const { red, reported } = endings();
  red.notifyLater(id, asks(1));
  expect(reported).toEqual([]);
  red.end(id, answer);
  red.end(id, answer);
  expect(reported).toEqual([[1, answer]]);
});

test('asked twice before the outcome → the first gets an error, the latest gets the outcome', () => {
  const { red, reported } = endings();
  red.notifyLater(id, asks(1));
  red.notifyLater(id, asks(2));
  red.end('client/2', answer);
  red.end(id, answer);
  expect(reported).toEqual([
    [1, expect.objectContaining({ code: expect.any(String) })],
    [2, answer],
  ]);
});

test('asked after the outcome → notified at once; another operation is unknown', () => {
  const { red, reported } = endings();
  red.end(id, answer);
  expect([red.notify(id, asks(1)), red.notify('client/2', asks(2))]).toEqual([true, false]);
  expect(reported).toEqual([[1, answer]]);
});
