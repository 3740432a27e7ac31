/**
 * Servers that say that they go: the next connection is opened at once, the old one kept for its
 * answers.
 */
import { describe, expect, test } from 'vitest';
import { neverReconnect } from '../../../src/correctable/backoff.ts';
import { quietContext, readX, writeX } from '../../support/wire.ts';
import { settled, type FakeSocket } from './fake-platform.ts';
import { startOpen, submit, welcome, type Fixture } from './set-up.ts';

const TWO = ['ws://one.test/', 'ws://two.test/'];

interface Draining extends Fixture {
  readonly old: FakeSocket;
}

/** One read and one update are under way on a socket whose server goes; the next one is open. */
async function draining(
  drainMs = 30_000,
): Promise<Draining & { sinks: ReturnType<typeof submit>[] }> {
  const fixture = await startOpen({ url: TWO });
  const { platform, connection } = fixture;
  const sinks = [submit(connection, readX), submit(connection, writeX)];
  platform.tick();
  const old = platform.socket;
  old.receive([0, 'goaway', drainMs]);
  platform.advance(0);
  await welcome(platform);
  return { ...fixture, old, sinks };
}

describe('a server that goes', () => {
  test('next connection → opened at once, at the next site, and used while the old one still answers', async () => {
    const { platform, connection, old, sinks, states } = await draining();
    expect(platform.sockets.map(({ url }) => url)).toEqual(TWO);
    expect(states).toEqual(['handshaking', 'open', 'waiting', 'connecting', 'handshaking', 'open']);
    const quick = submit(connection, readX);
    platform.tick();
    platform.socket.receive([3, 'view', 1, 0, 'quick']);
    expect(await quick.call(0)).toMatchObject({ value: 'quick' });
    expect(platform.socket.rows('submit').map(([id]) => id)).toEqual([3]);
    old.receive([1, 'view', 0, 0, 'guess'], [1, 'confirm', 1, 0], [2, 'view', 1, 0, 'done']);
    expect(sinks.map(({ calls }) => calls.length)).toEqual([2, 1]);
    expect(old.closedByClient).toBe(true);
  });

  test('it closes without an answer → submitted on the present connection, under the same number', async () => {
    const { platform, old, sinks } = await draining();
    old.lose(1001);
    platform.tick();
    expect(platform.socket.rows('submit').map(([id]) => id)).toEqual([1, 2]);
    platform.socket.receive([1, 'view', 1, 0, 'r'], [2, 'view', 1, 0, 'u']);
    expect(sinks.map(({ calls }) => calls.length)).toEqual([1, 1]);
  });

  test('it neither answers nor closes → dropped after the time that it named and that for a pong', async () => {
    const { platform, old } = await draining(10_000);
    platform.advance(14_900);
    expect(old.closedByClient).toBe(false);
    platform.advance(200);
    expect(old.closedByClient).toBe(true);
    expect(platform.socket.rows('submit').map(([id]) => id)).toEqual([1, 2]);
  });

  test('it would not take it, and there is no next one yet → waits, and can be given up on', async () => {
    const { platform, connection } = await startOpen({ url: TWO });
    const controller = new AbortController();
    const context = quietContext({ signal: controller.signal });
    submit(connection, writeX, context);
    submit(connection, writeX);
    platform.tick();
    platform.socket.receive([0, 'goaway', 1_000], [1, 'fail', 'UNAVAILABLE', 'going']);
    expect(context.submissionStatus?.mayHaveBeenSent).toBe(false);
    controller.abort();
    platform.advance(0);
    await welcome(platform, { memoryId: 'n' });
    expect(platform.socket.rows('submit')).toEqual([]);
  });

  test('nothing in flight → the old socket is closed at once, the next one opened', async () => {
    const { platform } = await startOpen({ url: TWO });
    platform.socket.receive([0, 'goaway', 30_000]);
    expect(platform.socket.closedByClient).toBe(true);
    platform.advance(0);
    expect(platform.sockets).toHaveLength(2);
  });

  test('cancelled in the meantime → the server that has the operation gets the cancel', async () => {
    const { platform, connection } = await startOpen({ url: TWO });
    const controller = new AbortController();
    submit(connection, writeX, quietContext({ signal: controller.signal }));
    platform.advance(20);
    const old = platform.socket;
    old.receive([0, 'goaway', 1_000]);
    platform.advance(0);
    await welcome(platform);
    controller.abort();
    platform.tick();
    expect(old.rows('cancel')).toEqual([[1, 'cancel']]);
    expect(platform.socket.rows('cancel')).toEqual([]);
  });

  test('one server after the other goes away → all connections are kept; pauses between attempts grow', async () => {
    const { platform, connection } = await startOpen({ url: TWO });
    const sinks = [];
    const pauses: number[] = [];
    for (let id = 1; id <= 4; id++) {
      sinks.push(submit(connection, readX));
      platform.tick();
      const { length } = platform.sockets;
      platform.socket.receive([0, 'goaway', 30_000]);
      const from = platform.now();
      while (platform.sockets.length === length) platform.advance(10);
      pauses.push(platform.now() - from);
      await welcome(platform);
    }
    // Each of the two sites may go once without a pause.
    expect(pauses).toEqual([10, 10, 200, 400]);
    for (const [index, socket] of platform.sockets.slice(0, 4).entries())
      socket.receive([index + 1, 'view', 1, 0, 'v']);
    expect(sinks.map(({ calls }) => calls.length)).toEqual([1, 1, 1, 1]);
  });

  test('a policy that gives up → results that the old server still sends are delivered, the rest fails then', async () => {
    const { platform, connection } = await startOpen({ url: TWO, reconnect: neverReconnect });
    const under = submit(connection, readX);
    platform.tick();
    const old = platform.socket;
    old.receive([0, 'goaway', 30_000]);
    platform.advance(0);
    const waiting = submit(connection, readX);
    platform.socket.lose();
    expect(connection.state).toBe('waiting');
    old.receive([1, 'view', 1, 0, 'v']);
    expect(await under.call(0)).toMatchObject({ value: 'v' });
    expect(await waiting.failure(0)).toMatchObject({ code: 'UNAVAILABLE' });
    expect(connection.state).toBe('closed');
    expect(platform.timers).toBe(0);
  });

  test('closed by the application → no socket and no timer is left', async () => {
    const { platform, connection, old, sinks } = await draining();
    const closing = connection.close();
    platform.socket.lose(1000);
    await closing;
    await settled();
    expect(old.closedByClient).toBe(true);
    expect(platform.timers).toBe(0);
    expect([await sinks[0]?.failure(0), await sinks[1]?.failure(0)]).toMatchObject([
      { code: 'UNAVAILABLE' },
      { code: 'UNKNOWN' },
    ]);
  });
});
