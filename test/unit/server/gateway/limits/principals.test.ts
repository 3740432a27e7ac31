/** Who has gone is remembered as long as that matters, and no longer; who is here is never forgotten. */
import { expect, test } from 'vitest';
import { Principals } from '../../../../../src/server/gateway/limits/principals.ts';

const BOUNDS = { connectionsPerPrincipalMax: 1, operationsPerSecondPerPrincipalMax: 10 };
/** By then any bucket is full again. */
const LATER_MS = 100_000;

test('it went, came back and stays, its bucket long full → still no more connections than it may have', () => {
  const principals = new Principals(BOUNDS);
  principals.enter('a', 0);
  principals.leave('a', 0);
  principals.enter('a', 1);
  principals.enter('b', LATER_MS);
  expect(principals.enter('a', LATER_MS + 1)).toBeUndefined();
});

test('it went with something under way, and that ends → remembered until then, and forgotten after', () => {
  const principals = new Principals(BOUNDS);
  const share = principals.enter('a', 0);
  expect(share).toBeDefined();
  if (share !== undefined) share.load.bytes = 5;
  principals.leave('a', 0);
  principals.forgetIdle(LATER_MS);
  expect(principals.size).toBe(1);
  if (share !== undefined) share.load.bytes = 0;
  principals.forgetIdle(2 * LATER_MS);
  expect(principals.size).toBe(0);
});
