/** A token function that fails, is slow, or gives nonsense. */
import { describe, expect, test } from 'vitest';
import { writeX } from '../../support/wire.ts';
import { settled } from './fake-platform.ts';
import { start, submit, welcome } from './set-up.ts';

const FAILS = new Error('fetch failed');

describe('renewal', () => {
  test('token function fails → asked again until it has one; the connection stays, the reason is told', async () => {
    const told: unknown[][] = [];
    let asked = 0;
    const { platform, connection } = start({
      token: () => {
        asked++;
        if (asked > 1 && asked < 5) throw FAILS;
        return `token ${asked}`;
      },
      onStateChange: (state, reason) => told.push([state, reason?.message]),
    });
    await welcome(platform, { expiresInMs: 60_000 });
    const sink = submit(connection, writeX);
    platform.tick();
    for (let ms = 0; ms < 50_000; ms += 50) {
      platform.advance(50);
      await settled();
      platform.socket.receive([1, 'pong']);
    }
    expect(platform.socket.rows('renew')).toEqual([[0, 'renew', 'token 5']]);
    expect(told.filter(([state]) => state !== 'probing').slice(2)).toEqual(
      Array.from({ length: 3 }, () => ['open', 'token: no token could be had: fetch failed']),
    );
    platform.socket.receive([0, 'renewed', 60_000], [1, 'view', 1, 0, 'done']);
    expect(await sink.call(0)).toMatchObject({ value: 'done' });
    expect(platform.sockets).toHaveLength(1);
  });

  test('it fails until the token ends → no longer asked; the next connection asks again', async () => {
    let asked = 0;
    const { platform } = start({ token: () => (++asked === 1 ? 'first' : Promise.reject(FAILS)) });
    await welcome(platform, { expiresInMs: 10_000 });
    for (let ms = 0; ms < 20_000; ms += 50) {
      platform.advance(50);
      await settled();
      platform.socket.receive([1, 'pong']);
    }
    const before = asked;
    expect(before).toBeGreaterThan(2);
    platform.socket.lose(4402, 'the token has expired');
    platform.advance(100);
    platform.socket.open();
    await settled();
    expect(asked).toBe(before + 1);
  });

  test('a server that says that tokens last no time → asked no more than 20 times a second', async () => {
    let asked = 0;
    const { platform } = start({ token: () => `token ${++asked}` });
    await welcome(platform, { expiresInMs: 0 });
    for (let ms = 0; ms < 1_000; ms++) {
      platform.advance(1);
      await settled();
      platform.socket.receive([0, 'renewed', 0]);
    }
    expect(asked).toBeLessThanOrEqual(21);
  });
});

describe('greeting', () => {
  test.each([
    ['a number', 7],
    ['an object', { token: 'x' }],
    ['null', null],
  ])('token function gives %s → the reason says so, it is asked again', async (_, given) => {
    const told: unknown[] = [];
    let asked = 0;
    const { platform } = start({
      token: () => (++asked === 1 ? (given as never) : 'text'),
      onStateChange: (_state, reason) => told.push(reason?.message),
    });
    platform.socket.open();
    await settled();
    expect(told.at(-1)).toContain('must give a text');
    platform.advance(100);
    await welcome(platform);
    expect(platform.socket.rows('hello')).toMatchObject([[0, 'hello', { token: 'text' }]]);
  });

  test('token comes when its connection has been given up → it is not used for another', async () => {
    let give: (token: string) => void = () => {};
    let asked = 0;
    const { platform } = start({
      connectTimeoutMs: 1_000,
      token: () => (++asked === 1 ? new Promise<string>((resolve) => (give = resolve)) : 'second'),
    });
    platform.socket.open();
    await settled();
    platform.advance(1_000);
    platform.advance(100);
    platform.socket.open();
    give('first');
    await settled();
    expect(platform.sockets.flatMap((socket) => socket.rows('hello'))).toMatchObject([
      [0, 'hello', { token: 'second' }],
    ]);
  });
});
