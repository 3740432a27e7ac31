/**
 * A benchmark of a product that gives no preliminary view, or without the delays, ends: it has
 * nothing to tell.
 */
import { expect, test } from 'vitest';
import { checkDelay, checkViews } from '../../../bench/harness/preconditions.ts';

const NO_VIEWS = 'what they take or cost was not measured';
const NO_DELAYS = 'the delays are not there';

test('views: of hardly any operation one may be late; of none at all nothing is known', () => {
  expect(() => checkViews('reads', { views: 99, of: 100 })).not.toThrow();
  expect(() => checkViews('reads', { views: 98, of: 100 })).toThrow(
    'reads: 98 preliminary views of 100 operations: what they take or cost was not measured',
  );
  expect(() => checkViews('reads', { views: 0, of: 0 })).toThrow(NO_VIEWS);
});

test('delays: an answer may come a little sooner than the way takes, as timers do', () => {
  expect(() => checkDelay('reads', { ms: 19, atLeastMs: 20 })).not.toThrow();
  expect(() => checkDelay('reads', { ms: 18.9, atLeastMs: 20 })).toThrow(
    'reads: 18.90 ms, where the way alone takes 20 ms: the delays are not there',
  );
  expect(() => checkDelay('reads', { ms: NaN, atLeastMs: 20 })).toThrow(NO_DELAYS);
});
