/** A token function that fails, is slow, or gives nonsense. */
import { describe, expect, test } from 'vitest';
import { CorrectableError } from '../../../src/correctable/errors.ts';
import { writeX } from '../../support/wire.ts';
import { settled } from './fake-platform.ts';
import { start, startOpen, submit, welcome } from './set-up.ts';

const FAILS = new Error('fetch failed');

describe('renewal', () => {
  test('the token function fails → retried until it returns one; the connection stays, the cause is reported', async () => {
    const reported: unknown[][] = [];
    let requested = 0;
    const { platform, connection } = start({
      token: () => {
        requested++;
        if (requested > 1 && requested < 5) throw FAILS;
        return `token ${requested}`;
      },
      onStateChange: (state, reason) => reported.push([state, reason?.message]),
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
    expect(reported.filter(([state]) => state !== 'probing').slice(2)).toEqual(
      Array.from({ length: 3 }, () => ['open', 'token: no token could be had: fetch failed']),
    );
    platform.socket.receive([0, 'renewed', 60_000], [1, 'view', 1, 0, 'done']);
    expect(await sink.call(0)).toMatchObject({ value: 'done' });
    expect(platform.sockets).toHaveLength(1);
  });

  test('a server with tokens of no lifetime → asked at most 20 times a second', async () => {
    let requested = 0;
    const { platform } = start({ token: () => `token ${++requested}` });
    await welcome(platform, { expiresInMs: 0 });
    for (let ms = 0; ms < 1_000; ms++) {
      platform.advance(1);
      await settled();
      platform.socket.receive([0, 'renewed', 0]);
    }
    expect(requested).toBeLessThanOrEqual(21);
  });
});

describe('handshaking', () => {
  test.each([
    ['a number', 7],
    ['an object', { token: 'x' }],
    ['null', null],
  ])(
    'the token function returns %s → the cause is reported, and it is retried',
    async (_, value) => {
      const reported: unknown[] = [];
      let requested = 0;
      const { platform } = start({
        token: () => (++requested === 1 ? (value as never) : 'text'),
        onStateChange: (_state, reason) => reported.push(reason?.message),
      });
      platform.socket.open();
      await settled();
      expect(reported.at(-1)).toContain('must give a text');
      platform.advance(100);
      await welcome(platform);
      expect(platform.socket.rows('hello')).toMatchObject([[0, 'hello', { token: 'text' }]]);
    },
  );

  test.each([
    ['half of a surrogate pair', 'a\ud800'],
    ['too long', 'x'.repeat(16_385)],
  ])(
    'a token that cannot be sent, %s → reported, tried again, nothing is thrown',
    async (_what, token) => {
      const { platform, connection, states } = start({ token: () => token });
      platform.socket.open();
      await settled();
      expect(states.at(-1)).toBe('waiting');
      const sink = submit(connection);
      await connection.close();
      expect(sink.calls).toMatchObject([{ error: { code: 'UNAVAILABLE' } }]);
    },
  );

  test('the token function fails with UNAUTHENTICATED → closed, and operations get that error', async () => {
    const signedOut = new CorrectableError('UNAUTHENTICATED', 'sign in first');
    const { platform, connection, states } = start({ token: () => Promise.reject(signedOut) });
    const sink = submit(connection);
    platform.socket.open();
    await settled();
    expect(states.at(-1)).toBe('closed');
    expect(sink.calls).toMatchObject([{ error: { code: 'UNAUTHENTICATED', retryable: false } }]);
  });

  test.each([
    ['a text → closed: there is no fresh one', 'secret', 'closed'],
    ['a function → retried', () => 'secret', 'waiting'],
  ])('token has expired, given as %s', async (_what, token, state) => {
    const { platform, states } = await startOpen({ token });
    platform.socket.lose(4402, 'the token has expired');
    expect(states.at(-1)).toBe(state);
  });
});

describe('a token that the server refuses', () => {
  test('given by a function → operations fail, and the next one asks for another token', async () => {
    let token = 'old';
    const { platform, connection, states } = start({ token: () => token });
    const sink = submit(connection, writeX);
    platform.socket.open();
    await settled();
    platform.socket.lose(4401, 'the token was refused');
    expect(sink.calls).toMatchObject([{ error: { code: 'UNAUTHENTICATED', retryable: false } }]);
    await expect(connection.ready).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(states.at(-1)).toBe('waiting');
    // The application has no other token yet.
    platform.advance(60_000);
    expect(platform.sockets).toHaveLength(1);

    token = 'fresh';
    const next = submit(connection);
    platform.advance(0);
    await welcome(platform);
    expect(platform.socket.rows('hello')).toMatchObject([[0, 'hello', { token: 'fresh' }]]);
    const [[id]] = platform.socket.rows('submit') as [[number]];
    platform.socket.receive([id, 'view', 1, 0, 'done']);
    expect(await next.call(0)).toMatchObject({ value: 'done' });
  });

  test('again and again → operations wait for a growing delay', async () => {
    const { platform, connection } = start({ token: () => 'wrong' });
    for (const delayMs of [0, 100, 200, 400]) {
      const sink = submit(connection);
      platform.advance(Math.max(0, delayMs / 2 - 1));
      const before = platform.sockets.length;
      platform.advance(delayMs);
      expect(platform.sockets.length).toBe(delayMs === 0 ? before : before + 1);
      platform.socket.open();
      await settled();
      platform.socket.lose(4401, 'the token was refused');
      expect(sink.calls).toMatchObject([{ error: { code: 'UNAUTHENTICATED' } }]);
    }
  });

  test('for an operation that its failed predecessor has made → sent after the delay', async () => {
    const { platform, connection } = start({ token: () => 'wrong' });
    const sink = submit(connection);
    let next: ReturnType<typeof submit> | undefined;
    void sink.failure(0).then(() => (next = submit(connection)));
    platform.socket.open();
    await settled();
    platform.socket.lose(4401, 'the token was refused');
    await settled();
    platform.advance(100);
    expect(platform.sockets).toHaveLength(2);
    expect(next?.calls).toEqual([]);
  });

  test('while the connection is open → the same', async () => {
    const { platform, connection, states } = await startOpen({ token: () => 'old' });
    platform.socket.lose(4401, 'the token was refused');
    expect(states.at(-1)).toBe('waiting');
    submit(connection);
    platform.advance(100);
    expect(platform.sockets).toHaveLength(2);
    await connection.close();
    expect(states.at(-1)).toBe('closed');
  });

  test('given as a text → closed: there is no other one', async () => {
    const { platform, states } = await startOpen({ token: 'secret' });
    platform.socket.lose(4401, 'the token was refused');
    expect(states.at(-1)).toBe('closed');
  });
});
