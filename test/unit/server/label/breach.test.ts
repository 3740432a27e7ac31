/** Which breaches say the same: what is made simpler must not become another one. */
import { expect, test } from 'vitest';
import { isSameBreach, type Breach } from '../../../../src/server/label/run-meeting.ts';

const meeting = { past: [], here: { operation: 'go', args: {}, serial: 1, seed: 1, atMs: 0 }, there: [], place: 0 };

function broken(invariant: string, table: string, isOfRow = true): Breach {
  const rows = [{ table, key: 'a', fields: {} }];
  return { kind: 'alone', shadow: 'add', operation: 'go', meeting, broken: { invariant, isOfRow, rows } };
}

const first = broken('small', 'rows');

test.each<[string, Breach, boolean]>([
  ['the same', broken('small', 'rows'), true],
  ['of another invariant', broken('even', 'rows'), false],
  ['of the invariant of that name of another table', broken('small', 'lists'), false],
  ['of what is said of all tables', broken('small', 'rows', false), false],
  ['of another operation', { ...first, operation: 'come' }, false],
])('%s → the same: %s', (_what, other, expected) => {
  expect(isSameBreach(first, other)).toBe(expected);
});

test('of all tables together → whichever rows are shown', () => {
  expect(isSameBreach(broken('small', 'rows', false), broken('small', 'lists', false))).toBe(true);
});
