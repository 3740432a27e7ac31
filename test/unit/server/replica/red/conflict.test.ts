/** What a `CONFLICT` says: what the operation met is what it reads, or what it writes unread. */
import { expect, test } from 'vitest';
import type { CorrectableError } from '../../../../../src/correctable/errors.ts';
import { conflictError } from '../../../../../src/server/replica/red/conflict.ts';
import { fieldName } from '../../../../../src/server/generator/read-set.ts';
import type { RedRequest, StableRun } from '../../../../../src/server/replica/red/red-requests.ts';

const name = fieldName('t', 'a', 'n');

function said(run: StableRun | undefined): CorrectableError {
  const submission = { operation: 'add' } as RedRequest['submission'];
  return conflictError({ submission, cascades: 0, attempt: 2, conflict: { reason: 'name', name }, run });
}

test.each([
  ['read', [name], /changed what it reads \(lastly t\/a\.n\)/],
  ['written alone', [], /changed what it writes \(lastly t\/a\.n\)/],
])('what changed was %s → it is said so', (_how, read, words) => {
  const reads = { names: new Set(read), ranges: [] };
  const run = { outcome: { reads, choice: undefined, reply: { value: null } }, reads, version: 0 } as StableRun;
  expect(said(run)).toMatchObject({ code: 'CONFLICT', message: expect.stringMatching(words) as string });
});

test('nothing is kept of the run → it is not said which', () => {
  expect(said(undefined).message).toContain('changed what it reads or writes (lastly t/a.n)');
});
