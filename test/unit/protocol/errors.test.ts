import { expect, test } from 'vitest';
import { CorrectableError } from '../../../src/correctable/errors.ts';
import { fromFailMessage, toFailMessage } from '../../../src/protocol/errors.ts';

test('error → the same code, message, field and advice on the other side', () => {
  const error = new CorrectableError('OVERLOADED', 'later', { retryAfterMs: 50, field: 'args.x' });
  expect(fromFailMessage(toFailMessage(1, error))).toMatchObject({
    code: 'OVERLOADED',
    message: 'later',
    retryable: true,
    retryAfterMs: 50,
    field: 'args.x',
  });
});

test('error of a level → carries the level', () => {
  const row = toFailMessage(1, new CorrectableError('UNAVAILABLE', 'no backup'), 0);
  expect(row[4]).toBe(0);
  expect(fromFailMessage(row, 'weak').level).toBe('weak');
});

test("a store's own error → its text stays on the server", () => {
  const row = toFailMessage(1, new Error('table accounts on 10.0.0.7 is locked'));
  expect(JSON.stringify(row)).not.toContain('accounts');
  expect(fromFailMessage(row).code).toBe('FINAL_FAILED');
});

test('code of a newer server → FINAL_FAILED that names it', () => {
  expect(fromFailMessage([1, 'fail', 'TOO_PURPLE', 'why'])).toMatchObject({
    code: 'FINAL_FAILED',
    message: 'TOO_PURPLE: why',
  });
  expect(fromFailMessage([1, 'fail', 'constructor', 'why']).code).toBe('FINAL_FAILED');
});
