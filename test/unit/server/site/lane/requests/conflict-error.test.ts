/**
 * The message of a `CONFLICT` names what changed: a field that the operation reads, or one that it
 * only writes.
 */
import { expect, test } from 'vitest';
import type { CorrectableError } from '../../../../../../src/correctable/errors.ts';
import { conflictError } from '../../../../../../src/server/site/lane/requests/retry-policy.ts';
import {
  toFieldName,
  parseName,
  toRemovalName,
  toRowName,
  toTableName,
} from '../../../../../../src/server/service/generator/read-set.ts';
import type {
  RedRequest,
  StableRun,
} from '../../../../../../src/server/site/lane/requests/red-requests.ts';

const name = toFieldName('t', 'a', 'n');

function createConflictError(run: StableRun | undefined, encountered = name): CorrectableError {
  const submission = { plan: { name: 'add' } } as RedRequest['submission'];
  return conflictError({
    submission,
    uncountedRejections: 0,
    attempt: 2,
    conflict: { reason: 'name', name: encountered },
    run,
  });
}

test.each([
  ['read', [name], /changed what it reads \(lastly t\/a\.n\)/],
  ['written alone', [], /changed what it writes \(lastly t\/a\.n\)/],
])('the changed field was %s → the message names it so', (_how, read, words) => {
  const reads = { names: new Set(read), ranges: [] };
  const run = {
    outcome: { reads, choice: undefined, reply: { value: null } },
    reads,
    version: 0,
  } as StableRun;
  expect(createConflictError(run)).toMatchObject({
    code: 'CONFLICT',
    message: expect.stringMatching(words) as string,
  });
});

test('no run is kept → the message covers both cases', () => {
  expect(createConflictError(undefined).message).toContain(
    'changed what it reads or writes (lastly t/a.n)',
  );
});

test('a global was aborted, since a hold came too late → the message names no conflict', () => {
  const submission = { plan: { name: 'add' } } as RedRequest['submission'];
  const request = {
    submission,
    uncountedRejections: 0,
    attempt: 2,
    conflict: { reason: 'aborted' },
    run: undefined,
  };
  expect(conflictError(request as Parameters<typeof conflictError>[0]).message).toBe(
    "'add' was executed 2 times, and each time a red log of another partition took too long to hold what it reads or writes. Nothing was changed. Retry.",
  );
});

test.each([
  [
    'a field',
    toFieldName('t', 'a\u0000b', 'n'),
    { table: 't', key: 'a\u0000b', field: 'n' },
    't/a\u0000b.n',
  ],
  ['a row', toRowName('t', 'a'), { table: 't', key: 'a' }, 't/a'],
  [
    'a row that is removed',
    toRemovalName('t', 'a\u0000b'),
    { table: 't', key: 'a\u0000b' },
    't/a\u0000b',
  ],
  ['a table', toTableName('t'), { table: 't' }, 't'],
])('the name of %s → its parts, whatever its key has in it', (_what, of, parts, words) => {
  expect(parseName(of)).toEqual(parts);
  expect(createConflictError(undefined, of).message).toContain(`(lastly ${words})`);
});
