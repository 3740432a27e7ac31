/** Messages of issues without a locale. */
import { expect, test } from 'vitest';
import { describeIssue } from '../../../src/values/describe-issue.ts';

test.each([
  [
    'of zod/mini',
    { message: 'Invalid input', expected: 'number' },
    'Invalid input: expected number',
  ],
  ['with its own text', { message: 'too small', expected: 'number' }, 'too small'],
  ['without what is expected', { message: 'Invalid input' }, 'Invalid input'],
  ['that is missing', undefined, 'invalid'],
] as const)('an issue %s', (_, issue, text) => {
  expect(describeIssue(issue, 'invalid')).toBe(text);
});
