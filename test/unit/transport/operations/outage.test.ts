/** The status of an operation that waits for a connection. */
import { expect, test } from 'vitest';
import { Outage } from '../../../../src/transport/operations/outage.ts';

test('a minute without a connection → in seconds', () => {
  let now = 0;
  const outage = new Outage(() => now);
  outage.recordAttempt('ws://server.test/');
  now = 60_000;
  expect(outage.blockedBy?.message).toContain('for 60.0 s (1 attempt)');
});
