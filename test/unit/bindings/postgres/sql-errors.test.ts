/** Which failures are those of a server, and what is known of a write. */
import { expect, test } from 'vitest';
import { isServerFailure, toCorrectableError } from '../../../../src/bindings/postgres/sql-errors.ts';

const statement = { name: 'put', access: 'write', isReplica: false } as const;

// @rule REPL-4
test.each(['EPIPE', 'ECONNRESET', undefined])('a write whose connection fails with %s is UNKNOWN', (code) => {
  expect(toCorrectableError(Object.assign(new Error('write failed'), { code }), statement)).toMatchObject({
    code: 'UNKNOWN',
  });
});

// @rule REPL-2
test.each([
  ['08006', true],
  ['57P01', true],
  [undefined, true],
  ['40001', false], // The replay has canceled it.
  ['0A000', false],
  ['53200', false],
  ['57014', false],
])('a replica whose statement fails with %s is left alone: %j', (code, isLeft) => {
  const reading = { name: 'get', access: 'read', isReplica: true } as const;
  const error = toCorrectableError(Object.assign(new Error('no'), { code }), reading);
  expect(isServerFailure(error)).toBe(isLeft);
});
