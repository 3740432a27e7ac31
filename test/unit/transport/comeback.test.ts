/** When a client comes back: the pauses between its attempts. */
import { describe, expect, test } from 'vitest';
import { quietContext, readX } from '../../support/wire.ts';
import type { FakePlatform } from './fake-platform.ts';
import { start, startOpen, submit, welcome } from './set-up.ts';

/** How long it takes until another socket is opened. */
function pause(platform: FakePlatform): number {
  const { length } = platform.sockets;
  const from = platform.now();
  while (platform.sockets.length === length) platform.advance(10);
  return platform.now() - from;
}

describe('a server that welcomes a client only to lose it', () => {
  test.each([1006, 4402, 4429])(
    'closed with %i right after the welcome → ever longer pauses',
    async (code) => {
      const { platform } = start();
      const pauses: number[] = [];
      for (let n = 0; n < 4; n++) {
        await welcome(platform);
        platform.socket.lose(code);
        pauses.push(pause(platform));
      }
      expect(pauses).toEqual([50, 100, 200, 400]);
    },
  );

  test('connection that held for a while → forgiven', async () => {
    const { platform } = start();
    const pauses: number[] = [];
    for (const heldMs of [0, 0, 4_990, 5_000]) {
      await welcome(platform);
      platform.advance(heldMs);
      platform.socket.lose();
      pauses.push(pause(platform));
    }
    expect(pauses).toEqual([50, 100, 200, 50]);
  });

  test('it does so with several sites → the next one, after one more try', async () => {
    const { platform } = start({ url: ['ws://one.test/', 'ws://two.test/'] });
    for (let n = 0; n < 3; n++) {
      await welcome(platform);
      platform.socket.lose();
      pause(platform);
    }
    expect(platform.sockets.map(({ url }) => url)).toEqual([
      'ws://one.test/',
      'ws://one.test/',
      'ws://two.test/',
      'ws://two.test/',
    ]);
  });
});

describe('time limits', () => {
  test('Infinity → no timer; the connection works', async () => {
    const never = {
      connectTimeoutMs: Infinity,
      heartbeatIntervalMs: Infinity,
      pongTimeoutMs: Infinity,
    };
    const { platform, connection } = await startOpen(never);
    submit(connection, readX, quietContext());
    platform.advance(1e12);
    expect(platform.sockets).toHaveLength(1);
    expect(platform.socket.rows('ping')).toEqual([]);
    expect(connection.state).toBe('open');
  });

  test('Infinity for the pause → waits for wake()', () => {
    const { platform, connection } = start({ reconnect: { delayMs: () => Infinity } });
    platform.socket.lose();
    platform.advance(1e12);
    expect(platform.sockets).toHaveLength(1);
    connection.wake();
    expect(platform.sockets).toHaveLength(2);
  });
});
