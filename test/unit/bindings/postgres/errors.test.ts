/** Which failures are those of a server, and what is known of a write. */
import { expect, test } from 'vitest';
import { ParserError } from '../../../../src/bindings/postgres/connections/column-parsers.ts';
import { isServerFailure, toCorrectableError } from '../../../../src/bindings/postgres/errors.ts';

const statement = { name: 'put', access: 'write', isReplica: false } as const;

// @rule REPL-4
test.each(['EPIPE', 'ECONNRESET', undefined])(
  'a write whose connection fails with %s is UNKNOWN',
  (code) => {
    expect(
      toCorrectableError(Object.assign(new Error('write failed'), { code }), statement),
    ).toMatchObject({
      code: 'UNKNOWN',
    });
  },
);

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

// @rule REPL-2
test.each([
  new ParserError('no such date', {
    cause: Object.assign(new Error('no such date'), { code: '08006' }),
  }),
  new TypeError('no such date'),
])('a value that %s refuses is no failure of the server', (error) => {
  const reading = { name: 'get', access: 'read', isReplica: true } as const;
  const reported = toCorrectableError(error, reading);
  expect(reported).toMatchObject({
    code: 'INVALID_VALUE',
    retryable: false,
    message: expect.stringContaining('no such date. Nothing was changed.'),
  });
  expect(isServerFailure(reported)).toBe(false);
  // The statement was executed, and its commit may have failed.
  expect(toCorrectableError(error, statement)).toMatchObject({ code: 'UNKNOWN', retryable: false });
});

// @rule REPL-4
test.each([
  ['2D000', 'FINAL_FAILED', 'cannot run in a transaction'],
  ['25001', 'FINAL_FAILED', 'cannot run in a transaction'],
  ['2F003', 'FINAL_FAILED', 'SQLSTATE 2F003'],
  ['21000', 'FINAL_FAILED', 'SQLSTATE 21000'],
  ['0A000', 'FINAL_FAILED', 'SQLSTATE 0A000'],
  ['54000', 'INVALID_ARGUMENT', 'too long'],
])('a write that is refused with %s is not retryable', (sqlState, code, message) => {
  const error = Object.assign(new Error('too long'), { code: sqlState });
  expect(toCorrectableError(error, statement)).toMatchObject({
    code,
    retryable: false,
    message: expect.stringContaining('Nothing was written.'),
  });
  expect((toCorrectableError(error, statement) as Error).message).toContain(message);
});
