/** Who asks again for a red operation: told once that its end has passed the gate, and only once. */
import { expect, test } from 'vitest';
import type { Submission } from '../../../../../src/server/records/submissions.ts';
import { RedOutcomes } from '../../../../../src/server/replica/red/red-outcomes.ts';

const id = 'client/1';
const answer = { reply: { value: 7 } } as never;
const asks = (serial: number) => ({ serial }) as Submission;

function endings(): { readonly red: RedOutcomes; readonly told: readonly (readonly [number, unknown])[] } {
  const reported: [number, unknown][] = [];
  const host = {
    core: { options: {} },
    reply: ({ serial }: Submission, _stage: unknown, value: unknown) => void reported.push([serial, value]),
  };
  return { red: new RedOutcomes(host as never), told: reported };
}

test('asked before the end → told at the end, and nobody is kept', () => {
  const { red, told: reported } = endings();
  red.notifyLater(id, asks(1));
  expect(reported).toEqual([]);
  red.end(id, answer);
  red.end(id, answer);
  expect(reported).toEqual([[1, answer]]);
});

test('asked twice before the end → the first is sent away, the latest is told', () => {
  const { red, told: reported } = endings();
  red.notifyLater(id, asks(1));
  red.notifyLater(id, asks(2));
  red.end('client/2', answer);
  red.end(id, answer);
  expect(reported).toEqual([
    [1, expect.objectContaining({ code: expect.any(String) })],
    [2, answer],
  ]);
});

test('asked after the end → told at once; of another one nothing is known', () => {
  const { red, told: reported } = endings();
  red.end(id, answer);
  expect([red.notify(id, asks(1)), red.notify('client/2', asks(2))]).toEqual([true, false]);
  expect(reported).toEqual([[1, answer]]);
});
