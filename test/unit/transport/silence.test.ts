/** Sites that fall silent, with sockets and time driven by hand. */
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/correctable/operation.ts';
import { quietContext, readX, writeX } from '../../support/wire.ts';
import type { FakePlatform } from './fake-platform.ts';
import { start, startOpen, submit, welcome, type Fixture } from './set-up.ts';

const TWO = ['ws://one.test/', 'ws://two.test/'];

/** How long it takes until another socket is opened. */
function untilNextSocket(platform: FakePlatform): number {
  const { length } = platform.sockets;
  const from = platform.now();
  while (platform.sockets.length === length) platform.advance(10);
  return platform.now() - from;
}

const largeUpdate = (kib: number): Operation => ({
  ...writeX,
  args: { text: 'x'.repeat(kib * 1024) },
});

describe('a site that falls silent', () => {
  test('operations wait → the next site, within 10 s by the defaults', async () => {
    const { platform, connection } = await startOpen({ url: TWO });
    submit(connection, readX);
    platform.tick();
    expect(untilNextSocket(platform)).toBeLessThanOrEqual(10_000);
    expect(platform.socket.url).toBe('ws://two.test/');
    await welcome(platform);
    expect(platform.socket.rows('submit')).toHaveLength(1);
  });

  test('asked for a sign of life, and the connection is lost → the same site once more, as after any loss', async () => {
    const { platform, connection } = await startOpen({ url: TWO });
    submit(connection, readX);
    while (platform.socket.rows('ping').length === 0) platform.advance(100);
    platform.socket.lose();
    untilNextSocket(platform);
    expect(platform.socket.url).toBe('ws://one.test/');
  });

  test.each([
    [1_000, 900, 0],
    [2_000, 1_500, 0],
    [4_000, 2_000, 0],
    [5_000, 2_900, 0],
    [10_000, 2_000, 0],
    [8_000, 5_000, 128],
    [14_000, 10_000, 256],
  ])(
    'a read every %d ms, given up after %d ms, of %d KiB → left all the same',
    async (everyMs, limitMs, kib) => {
      const { platform, connection } = await startOpen({ url: TWO });
      const from = platform.now();
      while (platform.sockets.length === 1 && platform.now() - from < 100_000) {
        const abort = new AbortController();
        const read: Operation = { ...readX, args: { text: 'x'.repeat(kib * 1024) } };
        submit(connection, read, { ...quietContext(), signal: abort.signal });
        platform.advance(limitMs);
        abort.abort();
        platform.advance(everyMs - limitMs);
      }
      expect(platform.sockets[1]?.url).toBe('ws://two.test/');
      expect(platform.now() - from).toBeLessThanOrEqual(10_000 + everyMs + kib * 32);
    },
  );

  test('no operation waits → left in peace for the whole heartbeat, then the same site is left too', async () => {
    const { platform } = await startOpen({ url: TWO });
    platform.advance(14_990);
    expect(platform.socket.rows('ping')).toEqual([]);
    expect(untilNextSocket(platform)).toBeLessThanOrEqual(5_200);
    expect(platform.socket.url).toBe('ws://two.test/');
  });

  test('a large answer is announced → waited for as long as a slow link takes, not longer', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, readX);
    platform.tick();
    platform.socket.receive([640 * 1024, 'incoming']);
    const untilAnnounced = untilNextSocket(platform);
    expect(untilAnnounced).toBeGreaterThan(20_000 + 7_000);
    expect(untilAnnounced).toBeLessThan(20_000 + 9_000);
  });

  test('a large write is in flight → waited for as long as a slow link takes', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, { ...readX, args: { text: 'x'.repeat(320 * 1024) } });
    platform.tick();
    expect(untilNextSocket(platform)).toBeGreaterThan(10_000 + 7_000);
  });

  test('one after the other goes out on a slow link, each is answered when it has come → none is cut off', async () => {
    const { platform, connection } = await startOpen();
    const sinks = [1, 2, 3].map(() => submit(connection, largeUpdate(1000)));
    platform.tick();
    for (const id of [1, 2, 3]) {
      // 40 KiB a second.
      platform.advance(25_000);
      platform.socket.receive([id, 'view', 1, 0, 'done']);
    }
    expect(sinks.map(({ calls }) => calls.length)).toEqual([1, 1, 1]);
    expect(platform.sockets).toHaveLength(1);
  });

  test.each([
    [128, 3_000],
    [256, 8_000],
    [1000, 30_000],
  ])(
    '%d KiB go out every %d ms, and no word comes → left after what one frame takes',
    async (kib, everyMs) => {
      const { platform, connection } = await startOpen({ url: TWO });
      const from = platform.now();
      for (let ms = 0; platform.sockets.length === 1 && ms < 200_000; ms += everyMs) {
        submit(connection, largeUpdate(kib));
        platform.advance(everyMs);
      }
      expect(platform.sockets[1]?.url).toBe('ws://two.test/');
      expect(platform.now() - from).toBeLessThan(32_000 + 9_000 + everyMs);
    },
  );

  test('a large answer takes longer than the silence allowed → waited for twice as long each time', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, readX);
    platform.tick();
    const first = untilNextSocket(platform);
    await welcome(platform);
    const second = untilNextSocket(platform);
    await welcome(platform);
    expect(second).toBeGreaterThan(first + 6_000);
    expect(untilNextSocket(platform)).toBeGreaterThan(second + 6_000);
  });

  test('a callback takes long while the connection opens → the site has its full time from then on', async () => {
    const { platform, connection } = start({ heartbeatIntervalMs: 1_000 });
    const tooLarge = submit(connection, { ...readX, args: 'x'.repeat(200) });
    tooLarge.fail = () => platform.sleep(900);
    await welcome(platform, { limits: { maxFrameBytes: 200, maxInFlight: 9 } });
    platform.advance(999);
    expect(connection.state).toBe('open');
    platform.advance(1);
    expect(connection.state).toBe('probing');
  });
});

describe('a site that is slow', () => {
  async function slow(): Promise<Fixture> {
    const fixture = await startOpen();
    submit(fixture.connection, readX);
    fixture.platform.tick();
    return fixture;
  }

  /** Answers pings for a while; returns when they came. */
  function answerPings(platform: FakePlatform, forMs: number): number[] {
    const from = platform.now();
    const at: number[] = [];
    const before = platform.socket.rows('ping').length;
    while (platform.now() - from < forMs) {
      platform.advance(100);
      if (platform.socket.rows('ping').length === before + at.length) continue;
      at.push(platform.now() - from);
      platform.socket.receive([1, 'pong']);
    }
    return at;
  }

  test('one operation takes a minute → few pings: the pauses grow to the heartbeat', async () => {
    const { platform } = await slow();
    expect(answerPings(platform, 60_000)).toEqual([3_000, 9_000, 21_000, 36_000, 51_000]);
    expect(platform.sockets).toHaveLength(1);
  });
});
