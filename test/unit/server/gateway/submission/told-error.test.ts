/** Errors of a hosted binding as clients are told of them. */
import { expect, test } from 'vitest';
import { CorrectableError, type ErrorCode } from '../../../../../src/correctable/errors.ts';
import { toldError } from '../../../../../src/server/gateway/submission/told-error.ts';

test.each([
  ['has half of a surrogate pair', 'a\ud83d', 'a\ufffd'],
  ['is cut in the middle of a pair', `${'x'.repeat(4_095)}😀`, `${'x'.repeat(4_095)}\ufffd`],
  ['is no text', 7, '7'],
])('text that %s → text that a row can carry', (_, given, told) => {
  const error = Object.assign(new CorrectableError('CONFLICT', ''), { message: given, field: given });
  expect(toldError(error)).toMatchObject({ message: told, field: typeof given === 'string' ? told : undefined });
});

test.each([
  [5, 5],
  [0, 0],
  [-1, undefined],
  [NaN, undefined],
  [Infinity, undefined],
  ['5', undefined],
])('retryAfterMs: %s → %s', (given, told) => {
  const error = new CorrectableError('OVERLOADED', 'busy', { retryAfterMs: given as number });
  expect(toldError(error)).toMatchObject({ retryAfterMs: told });
});

test.each(['', 'two words', 'X'.repeat(65), 7])('code %j → not told', (code) => {
  const error = Object.assign(new CorrectableError('CONFLICT', 'secret'), { code: code as ErrorCode });
  expect(toldError(error)).toBeUndefined();
});
