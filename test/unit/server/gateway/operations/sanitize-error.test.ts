/** Errors of a hosted binding as clients get them. */
import { expect, test } from 'vitest';
import { CorrectableError } from '../../../../../src/correctable/errors.ts';
import { sanitizeError } from '../../../../../src/server/gateway/operations/sanitize-error.ts';

/** An error whose fields hold what no constructor would let in. */
function errorWith(fields: Readonly<Record<string, unknown>>): CorrectableError {
  const descriptors = Object.entries(fields).map(([name, value]) => [
    name,
    { value, configurable: true },
  ]);
  const error = new CorrectableError('CONFLICT', 'secret');
  return Object.defineProperties(error, Object.fromEntries(descriptors) as PropertyDescriptorMap);
}

test.each([
  ['has half of a surrogate pair', 'a\ud83d', 'a\ufffd'],
  ['is cut in the middle of a pair', `${'x'.repeat(4_095)}😀`, `${'x'.repeat(4_095)}\ufffd`],
  ['is no text', 7, '7'],
])('text that %s → text that a row can carry', (_, value, reported) => {
  const { message, field } = sanitizeError(
    errorWith({ message: value, field: value }),
  ) as CorrectableError;
  expect({ message, field }).toEqual({
    message: reported,
    field: typeof value === 'string' ? reported : undefined,
  });
});

test.each([
  [5, 5],
  [0, 0],
  [-1, undefined],
  [NaN, undefined],
  [Infinity, undefined],
  ['5', undefined],
])('retryAfterMs: %s → %s', (value, reported) => {
  const error = new CorrectableError('OVERLOADED', 'busy', { retryAfterMs: value as number });
  expect((sanitizeError(error) as CorrectableError).retryAfterMs).toBe(reported);
});

test.each(['', 'two words', 'X'.repeat(65), 7])('code %j → not sent to clients', (code) => {
  expect(sanitizeError(errorWith({ code }))).toBeUndefined();
});
