/** A page that slept: no timer ran, the server has long forgotten the connection, and the clock jumped. */
import { expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '../../../src/protocol/version.ts';
import { connect } from '../../../src/transport/connection.ts';
import { LEVELS, quietContext, readX, SinkDouble, writeX } from '../../support/wire.ts';
import { FakePlatform, settled } from './fake-platform.ts';

const HOUR_MS = 3_600_000;
const LIMITS = { frameBytesMax: 1 << 20, inFlightMax: 100 };

async function welcome(platform: FakePlatform, more: object = {}): Promise<void> {
  platform.socket.open();
  await settled();
  platform.socket.receive([0, 'welcome', { version: PROTOCOL_VERSION, levels: LEVELS, limits: LIMITS, ...more }]);
  platform.tick();
}

test('page slept an hour, the socket looks open → it asks, hears nothing, comes back with a fresh token; what was under way goes on', async () => {
  const platform = new FakePlatform();
  let asked = 0;
  const connection = connect(
    {
      url: 'ws://server.test/irl',
      codec: 'json',
      WebSocket: platform.WebSocket,
      scheduling: platform,
      random: () => 0,
      token: () => `token ${++asked}`,
    },
    { levels: LEVELS },
  );
  await welcome(platform, { expiresInMs: 600_000 });
  const [update, read] = [new SinkDouble(), new SinkDouble()];
  connection.submit(writeX, ['strong'], update, quietContext());
  connection.submit(readX, ['weak', 'strong'], read, quietContext());
  platform.tick();
  platform.socket.receive([2, 'view', 0, 0, 'old']);
  const before = platform.socket;

  // All timers come due at once, late: the heartbeat and the renewal of a token that has long ended.
  platform.sleep(HOUR_MS);
  connection.wake();
  await settled();
  platform.advance(5_200);
  expect(platform.socket).not.toBe(before);
  expect(before.closedByClient).toBe(true);
  await welcome(platform);
  expect(platform.socket.rows('hello')).toMatchObject([[0, 'hello', { attempt: 2, token: `token ${asked}` }]]);
  expect(platform.socket.rows('submit').map(([id]) => id)).toEqual([1, 2]);

  platform.socket.receive([1, 'view', 1, 0, 'done'], [2, 'view', 1, 0, 'new']);
  expect(await update.call(0)).toMatchObject({ value: 'done' });
  expect(await read.call(1)).toMatchObject({ value: 'new', level: 'strong' });
});
