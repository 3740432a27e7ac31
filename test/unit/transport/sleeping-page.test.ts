/**
 * A page that slept: no timer ran, the server has long forgotten the connection, and the clock
 * jumped.
 */
import { expect, test } from 'vitest';
import { quietContext, readX, SinkDouble, writeX } from '../../support/wire.ts';
import { FakePlatform, settled } from './fake-platform.ts';
import { connectBy, welcome } from './set-up.ts';

const HOUR_MS = 3_600_000;
test('page slept an hour, the socket looks open → it asks, hears nothing, comes back with a fresh token; what was in flight goes on', async () => {
  const platform = new FakePlatform();
  let requested = 0;
  const connection = connectBy(platform, { token: () => `token ${++requested}` });
  await welcome(platform, { expiresInMs: 600_000 });
  const [update, read] = [new SinkDouble(), new SinkDouble()];
  connection.submit(writeX, ['strong'], update, quietContext());
  connection.submit(readX, ['weak', 'strong'], read, quietContext());
  platform.tick();
  platform.socket.receive([2, 'view', 0, 0, 'old']);
  const before = platform.socket;

  // All timers come due at once, late: the heartbeat and the renewal of a token that has long
  // ended.
  platform.sleep(HOUR_MS);
  connection.wake();
  await settled();
  platform.advance(5_200);
  expect(platform.socket).not.toBe(before);
  expect(before.closedByClient).toBe(true);
  await welcome(platform);
  expect(platform.socket.rows('hello')).toMatchObject([
    [0, 'hello', { attempt: 2, token: `token ${requested}` }],
  ]);
  expect(platform.socket.rows('submit').map(([id]) => id)).toEqual([1, 2]);

  platform.socket.receive([1, 'view', 1, 0, 'done'], [2, 'view', 1, 0, 'new']);
  expect(await update.call(0)).toMatchObject({ value: 'done' });
  expect(await read.call(1)).toMatchObject({ value: 'new', level: 'strong' });
});
