/** Another principal than before: nothing that one submitted may run under another. */
import { describe, expect, test } from 'vitest';
import { readX, writeX } from '../../support/wire.ts';
import type { FakePlatform } from './fake-platform.ts';
import { reconnect, start, submit, welcome } from './set-up.ts';

const CHANGED = 'the principal has changed; submit again what is still needed';

function helloOf(platform: FakePlatform): { readonly client: string; readonly attempt: number } {
  return platform.socket.rows('hello')[0]?.[2] as { client: string; attempt: number };
}

/**
 * An update is under way for one principal when the connection is lost; the next one is for
 * another.
 */
async function comeBack(before: string | undefined, after: string | undefined) {
  const { platform, connection } = start();
  await welcome(platform, { principal: before });
  const sink = submit(connection, writeX);
  platform.tick();
  await reconnect(platform, { principal: after });
  return { platform, sink };
}

describe('another principal', () => {
  test('after a reconnect → what was in flight fails with the truth, the client takes a new id, nothing is submitted before', async () => {
    const { platform, connection, states } = start();
    await welcome(platform, { principal: 'guest' });
    const guest = helloOf(platform);
    const sent = [submit(connection, writeX), submit(connection, readX)];
    platform.tick();
    platform.socket.lose();
    const unsent = submit(connection, writeX);
    platform.advance(100);
    await welcome(platform, { principal: 'ann' });
    expect(await Promise.all([...sent, unsent].map((sink) => sink.failure(0)))).toMatchObject([
      { code: 'UNKNOWN', retryable: false },
      { code: 'UNAVAILABLE', retryable: false, message: `get: ${CHANGED}` },
      { code: 'UNAVAILABLE', retryable: false, message: `put: ${CHANGED}; nothing was done` },
    ]);
    expect(platform.socket.closedByClient).toBe(true);
    expect(platform.socket.rows('submit')).toEqual([]);
    const later = submit(connection, writeX);
    platform.advance(100);
    await welcome(platform, { principal: 'ann' });
    expect(helloOf(platform).client).not.toBe(guest.client);
    expect(helloOf(platform).client).toMatch(/^[0-9a-f]{32}$/);
    expect(platform.socket.rows('submit')).toHaveLength(1);
    platform.socket.receive([4, 'view', 1, 0, 'v']);
    expect(await later.call(0)).toMatchObject({ value: 'v' });
    expect(states.at(-1)).toBe('open');
  });

  test.each([
    ['the same', 'ann', 'ann'],
    ['no authentication', undefined, undefined],
  ])('%s → goes on under the same id', async (_, before, after) => {
    const { platform, sink } = await comeBack(before, after);
    expect(sink.calls).toEqual([]);
    expect(platform.socket.rows('submit')).toHaveLength(1);
  });

  test.each([
    [undefined, 'ann'],
    ['ann', undefined],
  ])('from %s to %s → another', async (before, after) => {
    const { sink } = await comeBack(before, after);
    expect(await sink.failure(0)).toMatchObject({ code: 'UNKNOWN' });
  });

  test('a server that names another each time → ever longer pauses', async () => {
    const { platform } = start();
    await welcome(platform, { principal: 'first' });
    platform.socket.lose();
    platform.advance(50);
    const pauses: number[] = [];
    for (let n = 0; n < 4; n++) {
      await welcome(platform, { principal: `another ${n}` });
      const { length } = platform.sockets;
      const from = platform.now();
      while (platform.sockets.length === length) platform.advance(10);
      pauses.push(platform.now() - from);
    }
    expect(pauses).toEqual([100, 200, 400, 800]);
  });
});
