/** Positions of two servers, and what failures prove. */
import { expect, test } from 'vitest';
import { parsePosition, reached } from '../../../../src/bindings/postgres/position.ts';
import { toCorrectableError } from '../../../../src/bindings/postgres/sql-errors.ts';

const at = (lsn: string, timeline = 1, system = '7') => ({ system, timeline, lsn });

// @rule REPL-10
test.each([
  ['0/10', '0/10', true],
  ['0/10', '0/9', true],
  ['0/9', '0/10', false],
  ['1/0', '0/FFFFFFFF', true],
  ['A/0', '9/0', true],
])('%s has reached %s: %s', (have, need, isReached) => {
  expect(reached(at(have), at(need))).toBe(isReached);
});

// @rule REPL-10
test('positions of two timelines, or two systems, are not comparable', () => {
  expect(reached(at('0/20', 2), at('0/10', 1))).toBe(false);
  expect(reached(at('0/20', 1), at('0/10', 2))).toBe(false);
  expect(reached(at('0/20', 1, '8'), at('0/10'))).toBe(false);
});

test('the header of the next page does not count', () => {
  expect(reached(at('0/2000'), at('0/2018'))).toBe(true);
  expect(reached(at('0/2000'), at('0/2020'))).toBe(false);
});

// @rule REPL-11
test('a row without the timeline is no position', () => {
  expect(parsePosition({ system: '7', timeline: null, lsn: '0/1' })).toBeUndefined();
  expect(parsePosition(undefined)).toBeUndefined();
  expect(parsePosition({ ...at('0/1'), timeline: '1' })).toEqual(at('0/1'));
});

const codeOf = (access: 'read' | 'write', code: string | undefined, isReplica = false): string => {
  const error = Object.assign(new Error('it failed'), { code });
  return (toCorrectableError(error, { name: 'x', access, isReplica }) as { code: string }).code;
};

// @rule REPL-4
test.each([
  ['57P01', 'UNKNOWN', 'UNAVAILABLE'],
  ['ECONNRESET', 'UNKNOWN', 'UNAVAILABLE'],
  [undefined, 'UNKNOWN', 'UNAVAILABLE'],
  ['40003', 'UNKNOWN', 'CONFLICT'],
  ['XX000', 'UNKNOWN', 'UNAVAILABLE'],
  ['40001', 'CONFLICT', 'CONFLICT'],
  ['23505', 'CONFLICT', 'CONFLICT'],
  ['25006', 'UNAVAILABLE', 'INVALID_ARGUMENT'],
  ['42P01', 'FINAL_FAILED', 'FINAL_FAILED'],
  ['26000', 'FINAL_FAILED', 'FINAL_FAILED'],
  ['42501', 'FINAL_FAILED', 'FINAL_FAILED'],
  ['3F000', 'FINAL_FAILED', 'FINAL_FAILED'],
  ['53300', 'OVERLOADED', 'OVERLOADED'],
  ['57014', 'TIMEOUT', 'TIMEOUT'],
])('SQLSTATE %s: a write is %s, a read is %s', (sqlState, write, read) => {
  expect(codeOf('write', sqlState)).toBe(write);
  expect(codeOf('read', sqlState)).toBe(read);
});

test('a conflict with the replay is a failure of the replica, also if another library wraps it', () => {
  expect(codeOf('read', '40001', true)).toBe('UNAVAILABLE');
  const wrapped = new Error('query failed', { cause: Object.assign(new Error('duplicate'), { code: '23505' }) });
  expect(toCorrectableError(wrapped, { name: 'x', access: 'write', isReplica: false })).toMatchObject({
    code: 'CONFLICT',
    retryable: false,
  });
});
