/**
 * What the binding makes of the client's errors: its hints are for users of the binding, who have
 * no client of their own.
 */
import { expect, test } from 'vitest';
import { ZooKeeperError } from '../../../../src/bindings/zookeeper/client/errors.ts';
import { toCorrectableError } from '../../../../src/bindings/zookeeper/errors.ts';

test.each([
  ['SESSION_EXPIRED', 'UNAVAILABLE', 'The binding opens another session: try again'],
  ['NO_AUTH', 'FORBIDDEN', 'pass an identity that the ACL names as the option auth'],
  ['AUTH_FAILED', 'UNAUTHENTICATED', 'the server refused the option auth'],
] as const)('%s → %s, with a hint for users of the binding', (code, expected, hint) => {
  const cause = new ZooKeeperError(code, { path: '/keys/a' });
  const error = toCorrectableError(cause);
  expect(error).toMatchObject({ code: expected, cause });
  expect((error as Error).message).toMatch(new RegExp(`^${code} /keys/a: .*${hint}`));
});

test('a hint that the server or the connection gave → stays', () => {
  const hint = '127.0.0.1:2181: the server closed the connection';
  expect(toCorrectableError(new ZooKeeperError('CONNECTION_LOSS', { hint }))).toMatchObject({
    code: 'UNAVAILABLE',
    message: `CONNECTION_LOSS: ${hint}`,
  });
});
