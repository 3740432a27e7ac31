/** Who asks again for a red operation: told once that its end has passed the gate, and only once. */
import { expect, test } from 'vitest';
import type { Submission } from '../../../../../src/server/records/submissions.ts';
import { RedEndings } from '../../../../../src/server/replica/red/red-endings.ts';

const id = 'client/1';
const answer = { reply: { value: 7 } } as never;
const asks = (serial: number) => ({ serial }) as Submission;

function endings(): { readonly red: RedEndings; readonly told: readonly (readonly [number, unknown])[] } {
  const told: [number, unknown][] = [];
  const host = {
    core: { options: {} },
    answer: ({ serial }: Submission, _stage: unknown, given: unknown) => void told.push([serial, given]),
  };
  return { red: new RedEndings(host as never), told };
}

test('asked before the end → told at the end, and nobody is kept', () => {
  const { red, told } = endings();
  red.tellLater(id, asks(1));
  expect(told).toEqual([]);
  red.end(id, answer);
  red.end(id, answer);
  expect(told).toEqual([[1, answer]]);
});

test('asked twice before the end → the first is sent away, the latest is told', () => {
  const { red, told } = endings();
  red.tellLater(id, asks(1));
  red.tellLater(id, asks(2));
  red.end('client/2', answer);
  red.end(id, answer);
  expect(told).toEqual([
    [1, expect.objectContaining({ code: expect.any(String) })],
    [2, answer],
  ]);
});

test('asked after the end → told at once; of another one nothing is known', () => {
  const { red, told } = endings();
  red.end(id, answer);
  expect([red.tell(id, asks(1)), red.tell('client/2', asks(2))]).toEqual([true, false]);
  expect(told).toEqual([[1, answer]]);
});
