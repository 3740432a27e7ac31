/**
 * A client that is closed: what it still sends, how long it waits, and which outcomes it reports.
 */
import { describe, expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '../../../src/protocol/codec/version.ts';
import { LEVELS, writeX } from '../../support/wire.ts';
import { settled } from './fake-platform.ts';
import { LIMITS, start, startOpen, submit } from './set-up.ts';

describe('closed by the application', () => {
  test('a write has ended → acknowledged first, and then the socket closes in order', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, writeX);
    platform.tick();
    platform.socket.receive([1, 'view', 1, 0, 'v']);
    const { socket } = platform;
    const closes: unknown[] = [];
    socket.close = (code?: number) => void closes.push([code, ...socket.rows('ack')]);
    void connection.close();
    expect(closes).toEqual([[1000, [1, 'ack']]]);
  });

  test('the server closes its end → over then, not before', async () => {
    const { platform, connection } = await startOpen();
    let isOver = false;
    const over = connection.close().then(() => (isOver = true));
    await settled();
    expect([isOver, connection.state]).toEqual([false, 'closing']);
    platform.socket.lose(1000);
    await over;
    expect(connection.state).toBe('closed');
  });

  test('the server never closes its end → over after a second', async () => {
    const { platform, connection } = await startOpen();
    const over = connection.close();
    platform.advance(999);
    expect(connection.state).toBe('closing');
    platform.advance(1);
    await over;
    expect(connection.state).toBe('closed');
  });
});

describe('closed before it has sent hello', () => {
  test('the token comes later → it is not sent', async () => {
    let give = (_token: string): void => {};
    const { platform, connection } = start({
      token: () => new Promise((resolve) => (give = resolve)),
    });
    platform.socket.open();
    void connection.close();
    give('late');
    await settled();
    platform.tick();
    expect(platform.socket.sent).toEqual([]);
  });

  test('closed by a listener of a sign-in → no hello for that user', async () => {
    let user = 'ann';
    const { platform, connection } = start({ principal: () => user, token: () => `of ${user}` });
    const sink = submit(connection);
    sink.fail = () => void connection.close();
    user = 'bob';
    platform.socket.open();
    await settled();
    platform.tick();
    expect([connection.state, platform.socket.sent]).toEqual(['closing', []]);
  });
});

test('closed before it is welcomed, and the welcome comes then → no token is renewed', async () => {
  const { platform, connection } = start({ token: () => 'token' });
  platform.socket.open();
  await settled();
  void connection.close();
  const welcomed = {
    version: PROTOCOL_VERSION,
    levels: LEVELS,
    memoryId: 'm',
    limits: LIMITS,
    expiresInMs: 400,
  };
  platform.socket.receive([0, 'welcome', welcomed]);
  platform.advance(300);
  await settled();
  platform.tick();
  expect([connection.state, platform.socket.rows('renew')]).toEqual(['closing', []]);
});
