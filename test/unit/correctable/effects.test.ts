/** C10, C14: what may have been done is remembered, whatever an operation is made of and however many parts it has had. */
import { expect, test } from 'vitest';
import { addPart, doneDespite, doneOf, NOTHING, UNSEEN, UPDATE } from '../../../src/correctable/effects.ts';
import type { Done, Part } from '../../../src/correctable/effects.ts';
import { CorrectableError } from '../../../src/index.ts';

const part = (state: string, done: Done = NOTHING): Part => ({ state, done });

test('parts under way → the most that one of them may have done, also of parts of parts', () => {
  const [whole, inner, innermost] = [part('updating'), part('updating'), part('updating', UPDATE)];
  addPart(whole, part('updating', UNSEEN));
  expect(doneOf(whole)).toBe(UNSEEN);
  addPart(inner, innermost);
  addPart(whole, inner);
  expect(doneOf(whole)).toBe(UPDATE);
  innermost.done = NOTHING;
  expect(doneOf(whole)).toBe(UNSEEN);
});

test('a part whose steps have yet to begin → they count; those of the whole itself do not', () => {
  const [whole, one] = [part('updating'), part('updating')];
  addPart(whole, one);
  one.extras = { steps: UNSEEN };
  expect(doneOf(whole)).toBe(UNSEEN);
  expect(doneOf(one)).toBe(NOTHING);
});

test.each([3, 7, 8, 50])(
  'part %i of many has closed after an update → counted for ever, the others are not kept',
  (at) => {
    const whole = part('updating');
    for (let number = 0; number < 1_000; number += 1) addPart(whole, part('final', number === at ? UPDATE : NOTHING));
    expect(doneOf(whole)).toBe(UPDATE);
    expect(whole.extras?.parts?.length).toBeLessThan(8);
  },
);

test('many parts that are under way → each is kept, once', () => {
  const whole = part('updating');
  const open = Array.from({ length: 20 }, () => part('updating'));
  for (let round = 0; round < 50; round += 1) for (const one of open) addPart(whole, one);
  expect(new Set(whole.extras?.parts)).toEqual(new Set(open));
  expect(whole.extras?.parts?.length).toBeLessThan(1_000);
  expect(doneOf(whole)).toBe(NOTHING);
  open[19]!.done = UPDATE;
  expect(doneOf(whole)).toBe(UPDATE);
});

test.each([
  [
    'an error that says asking again is safe',
    new CorrectableError('UNAVAILABLE', 'x', { retryable: true }),
    UPDATE,
    NOTHING,
  ],
  ['an update that was aborted before it was sent', new CorrectableError('ABORTED', 'x'), UPDATE, NOTHING],
  ['a step that was aborted', new CorrectableError('ABORTED', 'x'), UNSEEN, UNSEEN],
  ['an error that is not to be retried', new CorrectableError('CONFLICT', 'x', { retryable: false }), UPDATE, UPDATE],
  ['an error that nobody knows', new Error('x'), UPDATE, UPDATE],
  ['nothing was done', new Error('x'), NOTHING, NOTHING],
] as const)('failed with %s → what may have been done all the same', (_, error, done, left) => {
  expect(doneDespite(error, done)).toBe(left);
});
