/**
 * COR-10, COR-14: what may have been done is remembered, whatever an operation is made of and
 * however many parts it has had.
 */
import { expect, test } from 'vitest';
import {
  addPart,
  getRemainingEffects,
  getEffectState,
  NO_EFFECT,
  UNOBSERVED,
  WRITE,
} from '../../../src/correctable/side-effects.ts';
import type { EffectState, SourcePart } from '../../../src/correctable/side-effects.ts';
import { CorrectableError } from '../../../src/index.ts';

const part = (state: string, effectState: EffectState = NO_EFFECT): SourcePart => ({
  state,
  effectState,
});

test('parts in flight → the most that one of them may have done, also of parts of parts', () => {
  const [whole, inner, innermost] = [part('pending'), part('pending'), part('pending', WRITE)];
  addPart(whole, part('pending', UNOBSERVED));
  expect(getEffectState(whole)).toBe(UNOBSERVED);
  addPart(inner, innermost);
  addPart(whole, inner);
  expect(getEffectState(whole)).toBe(WRITE);
  innermost.effectState = NO_EFFECT;
  expect(getEffectState(whole)).toBe(UNOBSERVED);
});

test('a part whose steps have yet to begin → they count; those of the whole itself do not', () => {
  const [whole, item] = [part('pending'), part('pending')];
  addPart(whole, item);
  item.extras = { futureEffects: UNOBSERVED };
  expect(getEffectState(whole)).toBe(UNOBSERVED);
  expect(getEffectState(item)).toBe(NO_EFFECT);
});

test.each([3, 7, 8, 50])(
  'part %i of many has closed after a write → counted for ever, the others are not kept',
  (at) => {
    const whole = part('pending');
    for (let number = 0; number < 1_000; number += 1)
      addPart(whole, part('final', number === at ? WRITE : NO_EFFECT));
    expect(getEffectState(whole)).toBe(WRITE);
    expect(whole.extras?.parts?.length).toBeLessThan(8);
  },
);

test('many parts that are in flight → each is kept, once', () => {
  const whole = part('pending');
  const open = Array.from({ length: 20 }, () => part('pending'));
  for (let round = 0; round < 50; round += 1) for (const item of open) addPart(whole, item);
  expect(new Set(whole.extras?.parts)).toEqual(new Set(open));
  expect(whole.extras?.parts?.length).toBeLessThan(1_000);
  expect(getEffectState(whole)).toBe(NO_EFFECT);
  open[19]!.effectState = WRITE;
  expect(getEffectState(whole)).toBe(WRITE);
});

test.each([
  [
    'a retryable error',
    new CorrectableError('UNAVAILABLE', 'x', { retryable: true }),
    WRITE,
    NO_EFFECT,
  ],
  [
    'a write that was aborted before it was sent',
    new CorrectableError('ABORTED', 'x'),
    WRITE,
    NO_EFFECT,
  ],
  ['a step that was aborted', new CorrectableError('ABORTED', 'x'), UNOBSERVED, UNOBSERVED],
  [
    'an error that is not to be retried',
    new CorrectableError('CONFLICT', 'x', { retryable: false }),
    WRITE,
    WRITE,
  ],
  ['an unknown error', new Error('x'), WRITE, WRITE],
  ['nothing was done', new Error('x'), NO_EFFECT, NO_EFFECT],
] as const)('failed with %s → what may have been done all the same', (_, error, done, left) => {
  expect(getRemainingEffects(error, done)).toBe(left);
});
