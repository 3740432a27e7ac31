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

const largeUpdate = (kib: number): Operation => ({ ...writeX, args: { text: 'x'.repeat(kib * 1024) } });

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

  test('operations come all the time → the same', async () => {
    const { platform, connection } = await startOpen({ url: TWO });
    platform.advance(14_000);
    const from = platform.now();
    while (platform.sockets.length === 1) {
      submit(connection, readX);
      platform.advance(200);
    }
    expect(platform.now() - from).toBeLessThanOrEqual(10_000);
    expect(platform.socket.url).toBe('ws://two.test/');
  });

  test.each([
    [1_000, 900, 0],
    [2_000, 1_500, 0],
    [4_000, 2_000, 0],
    [5_000, 2_900, 0],
    [10_000, 2_000, 0],
    [8_000, 5_000, 128],
    [14_000, 10_000, 256],
  ])('a read every %d ms, given up after %d ms, of %d KiB → left all the same', async (everyMs, limitMs, kib) => {
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
  });

  test('a read was given up, and the next one is answered → left in peace again', async () => {
    const { platform, connection } = await startOpen();
    const abort = new AbortController();
    submit(connection, readX, { ...quietContext(), signal: abort.signal });
    platform.advance(100);
    abort.abort();
    submit(connection, readX);
    platform.advance(100);
    const { socket } = platform;
    socket.receive([2, 'view', 1, 0, 'here']);
    platform.advance(14_900);
    expect([socket.rows('ping'), platform.sockets]).toEqual([[], [socket]]);
  });

  test('heard late in the period of the heartbeat → asked a heartbeat after that, not two periods later', async () => {
    const { platform } = await startOpen({ heartbeatMs: 10_000, pongTimeoutMs: 1_000 });
    platform.advance(1_000);
    platform.socket.receive([1, 'pong']);
    platform.advance(9_990);
    expect(platform.socket.rows('ping')).toEqual([]);
    platform.advance(20);
    expect(platform.socket.rows('ping')).toHaveLength(1);
  });

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

  test('the announced answer has come → as impatient as before', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, readX);
    submit(connection, readX);
    platform.tick();
    platform.socket.receive([640 * 1024, 'incoming']);
    platform.socket.receive([1, 'view', 1, 0, 'large']);
    expect(untilNextSocket(platform)).toBeLessThanOrEqual(9_000);
  });

  test('a large update is under way → waited for as long as a slow link takes', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, { ...readX, args: { text: 'x'.repeat(320 * 1024) } });
    platform.tick();
    expect(untilNextSocket(platform)).toBeGreaterThan(10_000 + 7_000);
  });

  test('a large update that waited for the connection → the same', async () => {
    const { platform, connection } = start();
    submit(connection, { ...readX, args: { text: 'x'.repeat(320 * 1024) } });
    await welcome(platform);
    expect(untilNextSocket(platform)).toBeGreaterThan(10_000 + 7_000);
  });

  test('the large update was answered, and the site falls silent → left as soon as ever', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, largeUpdate(1000));
    submit(connection, readX);
    platform.advance(4_000);
    platform.socket.receive([1, 'view', 1, 0, 'done']);
    expect(untilNextSocket(platform)).toBeLessThan(9_500);
  });

  test('a large read that waited for the connection is given up at once → it is on its way all the same', async () => {
    const { platform, connection } = start();
    const abort = new AbortController();
    const large: Operation = { ...readX, args: { text: 'x'.repeat(320 * 1024) } };
    submit(connection, large, { ...quietContext(), signal: abort.signal });
    await welcome(platform);
    abort.abort();
    submit(connection, readX);
    expect(untilNextSocket(platform)).toBeGreaterThan(8_000 + 7_000);
  });

  test('most of a large update has come, and a small read follows → no more time for that', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, largeUpdate(320));
    platform.advance(9_000);
    platform.socket.receive([2, 'pong']);
    submit(connection, readX);
    expect(untilNextSocket(platform)).toBeLessThan(8_000 + 2_000);
  });

  test('nothing was awaited for a while, then a read is → asked a fifth of the heartbeat later, not at once', async () => {
    const { platform, connection } = await startOpen();
    platform.advance(10_000);
    submit(connection, readX);
    platform.advance(2_990);
    expect(platform.socket.rows('ping')).toEqual([]);
    platform.advance(20);
    expect(platform.socket.rows('ping')).toHaveLength(1);
  });

  test('a word comes while a large update is under way → waited for all the same', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, largeUpdate(320));
    platform.advance(2_000);
    platform.socket.receive([2, 'pong']);
    expect(untilNextSocket(platform)).toBeGreaterThan(8_000 + 7_000);
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
  ])('%d KiB go out every %d ms, and no word comes → left after what one frame takes', async (kib, everyMs) => {
    const { platform, connection } = await startOpen({ url: TWO });
    const from = platform.now();
    for (let ms = 0; platform.sockets.length === 1 && ms < 200_000; ms += everyMs) {
      submit(connection, largeUpdate(kib));
      platform.advance(everyMs);
    }
    expect(platform.sockets[1]?.url).toBe('ws://two.test/');
    expect(platform.now() - from).toBeLessThan(32_000 + 9_000 + everyMs);
  });

  test('a large update has come long ago and takes long → left as soon as if it were a small one', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, largeUpdate(640));
    for (let pings = 0; platform.now() < 1_060_000; platform.advance(100)) {
      if (platform.socket.rows('ping').length === pings) continue;
      pings++;
      platform.socket.receive([1, 'pong']);
    }
    expect(untilNextSocket(platform)).toBeLessThanOrEqual(20_200);
  });

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

  test('a ping is answered in time again → as impatient as before', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, readX);
    platform.tick();
    const first = untilNextSocket(platform);
    await welcome(platform);
    while (platform.socket.rows('ping').length === 0) platform.advance(10);
    platform.socket.receive([1, 'pong']);
    platform.advance(0);
    platform.socket.lose();
    untilNextSocket(platform);
    await welcome(platform);
    expect(untilNextSocket(platform)).toBeLessThan(first + 1_000);
  });

  test('whoever is told something as the connection opens takes long → the site has its time from then on', async () => {
    const { platform, connection } = start({ heartbeatMs: 1_000 });
    const tooLarge = submit(connection, { ...readX, args: 'x'.repeat(200) });
    tooLarge.fail = () => platform.sleep(900);
    await welcome(platform, { limits: { frameBytesMax: 200, inFlightMax: 9 } });
    platform.advance(999);
    expect(connection.state).toBe('open');
    platform.advance(1);
    expect(connection.state).toBe('probing');
  });

  test('only one site → that one again', async () => {
    const { platform, connection } = await startOpen();
    submit(connection, readX);
    untilNextSocket(platform);
    expect(platform.socket.url).toBe('ws://server.test/irl');
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

  test('another operation comes then → the silence may be short again', async () => {
    const { platform, connection } = await slow();
    answerPings(platform, 40_000);
    submit(connection, readX);
    expect(answerPings(platform, 5_000)).toHaveLength(1);
  });

  test('answered → the heartbeat again', async () => {
    const { platform } = await slow();
    const { socket } = platform;
    socket.receive([1, 'view', 1, 0, 'v']);
    platform.advance(14_000);
    expect([socket.rows('ping'), platform.sockets]).toEqual([[], [socket]]);
  });
});
