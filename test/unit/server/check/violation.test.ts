/** Which breaches say the same: what is made simpler must not become another one. */
import { expect, test } from 'vitest';
import { isSameViolation, type Violation } from '../../../../src/server/check/run-interleaving.ts';

const interleaving = {
  past: [],
  here: { operation: 'go', args: {}, serial: 1, seed: 1, atMs: 0 },
  there: [],
  place: 0,
};

function broken(invariant: string, table: string, isOfRow = true): Violation {
  const rows = [{ table, key: 'a', fields: {} }];
  return {
    kind: 'alone',
    shadow: 'add',
    operation: 'go',
    interleaving,
    broken: { invariant, isOfRow, rows },
  };
}

const first = broken('small', 'rows');

test.each<[string, Violation, boolean]>([
  ['the same', broken('small', 'rows'), true],
  ['of another invariant', broken('even', 'rows'), false],
  ['of the invariant of that name of another table', broken('small', 'lists'), false],
  ['of an invariant of all tables', broken('small', 'rows', false), false],
  ['of another operation', { ...first, operation: 'come' }, false],
])('%s → the same: %s', (_what, other, expected) => {
  expect(isSameViolation(first, other)).toBe(expected);
});

test('of all tables together → whichever rows are shown', () => {
  expect(isSameViolation(broken('small', 'rows', false), broken('small', 'lists', false))).toBe(
    true,
  );
});
