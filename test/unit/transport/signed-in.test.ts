/**
 * The application reports the signed-in user: operations of one user never use the connection of
 * another.
 */
import { describe, expect, test } from 'vitest';
import type { ReconnectingClient } from '../../../src/transport/reconnecting-client.ts';
import type { ConnectionOptions } from '../../../src/transport/options/options.ts';
import { quietContext, readX, writeX } from '../../support/wire.ts';
import { settled, type FakePlatform, type FakeSocket } from './fake-platform.ts';
import { reconnect, start, submit, welcome } from './set-up.ts';

/** A page on which users sign in and out. */
function startPage(options: Partial<ConnectionOptions> = {}) {
  const page = { user: 'ada', asked: 0 };
  const started = start({
    principal: () => page.user,
    token: () => {
      page.asked++;
      return `token of ${page.user}`;
    },
    ...options,
  });
  return { page, ...started };
}

async function startPageOpen(options: Partial<ConnectionOptions> = {}) {
  const started = startPage(options);
  await welcome(started.platform, { principal: 'tag of ada' });
  return started;
}

interface Hello {
  readonly client: string;
  readonly token: string;
}

const helloOn = (socket: FakeSocket): Hello => socket.rows('hello')[0]?.[2] as Hello;
const hellos = ({ sockets }: FakePlatform): Hello[] =>
  sockets.flatMap((socket) => helloOn(socket) ?? []);
/** The numbers of what was submitted on a connection. */
const submittedOn = (socket: FakeSocket): unknown[] => socket.rows('submit').map(([id]) => id);

const FAILED = [
  { code: 'UNAVAILABLE', retryable: false },
  { code: 'UNAVAILABLE', retryable: false },
];

describe('another user submits', () => {
  test('before there is a connection → what waits fails at once; the connection is for the other alone', async () => {
    const { page, platform, connection } = startPage();
    const [read, update] = [submit(connection, readX), submit(connection, writeX)];
    page.user = 'boss';
    const own = submit(connection, readX);
    expect(read.calls).toMatchObject([{ kind: 'fail', error: FAILED[0] }]);
    expect(update.calls).toMatchObject([
      {
        kind: 'fail',
        error: {
          ...FAILED[1],
          message: expect.stringMatching(/^put: .*; nothing was done$/) as string,
        },
      },
    ]);
    await welcome(platform, { principal: 'tag of boss' });
    expect(hellos(platform)).toMatchObject([{ token: 'token of boss' }]);
    expect(submittedOn(platform.socket)).toEqual([3]);
    platform.socket.receive([3, 'view', 1, 0, 'v']);
    expect(own.calls).toMatchObject([{ value: 'v' }]);
  });

  test('while it is open → operations in flight get their true outcome; then another connection, client id and token', async () => {
    const { page, platform, connection, states } = await startPageOpen();
    const first = platform.socket;
    const [read, update] = [submit(connection, readX), submit(connection, writeX)];
    page.user = 'boss';
    const own = submit(connection, writeX);
    expect([read.calls, update.calls]).toMatchObject([
      [{ kind: 'fail', error: { code: 'UNAVAILABLE', retryable: false } }],
      [{ kind: 'fail', error: { code: 'UNKNOWN', retryable: false } }],
    ]);
    expect(submittedOn(first)).toEqual([1, 2]);
    expect(first.closedByClient).toBe(true);
    platform.advance(0);
    await welcome(platform, { principal: 'tag of boss' });
    const [ada, boss] = hellos(platform);
    expect([ada?.token, boss?.token]).toEqual(['token of ada', 'token of boss']);
    expect(boss?.client).not.toBe(ada?.client);
    expect(submittedOn(platform.socket)).toEqual([3]);
    first.receive([1, 'view', 1, 0, 'late'], [2, 'view', 1, 0, 'late']);
    expect([read.calls.length, update.calls.length, own.calls.length]).toEqual([1, 1, 0]);
    expect(states).toEqual(['handshaking', 'open', 'waiting', 'connecting', 'handshaking', 'open']);
  });

  test('while the server may not have sent welcome yet → a new handshake', async () => {
    const { page, platform, connection } = startPage();
    submit(connection, readX);
    platform.socket.open();
    await settled();
    page.user = 'boss';
    submit(connection, readX);
    expect(platform.socket.closedByClient).toBe(true);
    platform.advance(0);
    await welcome(platform);
    expect(hellos(platform).map(({ token }) => token)).toEqual(['token of ada', 'token of boss']);
    expect(submittedOn(platform.socket)).toEqual([2]);
  });

  test('a listener of the failure submits again → for the user who is signed in now, once', async () => {
    const { page, platform, connection } = await startPageOpen();
    const sink = submit(connection, readX);
    const { fail } = sink;
    sink.fail = (error, level) => {
      fail.call(sink, error, level);
      submit(connection, writeX);
    };
    page.user = 'boss';
    submit(connection, readX);
    platform.advance(0);
    await welcome(platform);
    expect(submittedOn(platform.socket)).toEqual([2, 3]);
  });
});

describe('another user is there', () => {
  test('when a connection opens → pending operations fail before anything is sent; the same connection serves', async () => {
    const { page, platform, connection } = startPage();
    const sink = submit(connection, writeX);
    await settled();
    page.user = 'boss';
    platform.advance(20_000);
    await welcome(platform);
    expect(sink.calls).toMatchObject([{ error: { code: 'UNAVAILABLE', retryable: false } }]);
    expect(hellos(platform)).toMatchObject([{ token: 'token of boss' }]);
    expect(submittedOn(platform.socket)).toEqual([]);
    expect(connection.state).toBe('open');
  });

  test('while a token is asked for → it is asked for again', async () => {
    const answers: ((token: string) => void)[] = [];
    const { page, platform, connection } = startPage({
      token: () => new Promise((give) => answers.push(give)),
    });
    const sink = submit(connection, readX);
    platform.socket.open();
    page.user = 'boss';
    answers[0]?.('of whom?');
    await settled();
    expect(hellos(platform)).toEqual([]);
    answers[1]?.('token of boss');
    await settled();
    expect(hellos(platform)).toMatchObject([{ token: 'token of boss' }]);
    expect(sink.calls).toMatchObject([{ error: { code: 'UNAVAILABLE' } }]);
    expect(answers).toHaveLength(2);
  });

  test('when the token is renewed → no token of one for the connection of another', async () => {
    const { page, platform, connection } = startPage();
    await welcome(platform, { expiresInMs: 10_000 });
    const sink = submit(connection, writeX);
    platform.tick();
    const first = platform.socket;
    page.user = 'boss';
    platform.advance(7_500);
    await settled();
    expect(first.rows('renew')).toEqual([]);
    expect(sink.calls).toMatchObject([{ error: { code: 'UNKNOWN' } }]);
    platform.advance(0);
    await welcome(platform);
    expect(helloOn(platform.socket).token).toBe('token of boss');
  });
});

describe('sessions', () => {
  test('of the former → have ended, also when she comes back; those of the other go on', async () => {
    const { page, platform, connection } = await startPageOpen();
    const [former] = [connection.openSession(['0.seen.signature'])];
    page.user = 'boss';
    const own = connection.openSession();
    platform.advance(0);
    await welcome(platform);
    const bosses = submit(connection, readX, quietContext({ session: own }));
    const others = submit(connection, readX, quietContext({ session: former }));
    page.user = 'ada';
    const late = submit(connection, readX, quietContext({ session: former }));
    const ended = { code: 'INVALID_ARGUMENT', field: 'session' };
    expect([others.calls, late.calls]).toMatchObject([[{ error: ended }], [{ error: ended }]]);
    expect(bosses.calls).toMatchObject([{ error: { code: 'UNAVAILABLE' } }]);
  });
});

describe('a caller that learns of the change goes on at once', () => {
  /**
   * A read of ada in flight, and what the page does when it fails because another user has signed
   * in.
   */
  async function whenNotified(
    act: (
      connection: ReconnectingClient,
      former: ReturnType<ReconnectingClient['openSession']>,
    ) => void,
  ): Promise<FakePlatform> {
    const started = await startPageOpen();
    const former = started.connection.openSession(['0.seen.signature']);
    const reported = submit(started.connection, readX);
    started.platform.tick();
    const { fail } = reported;
    reported.fail = (error, level) => {
      fail.call(reported, error, level);
      act(started.connection, former);
    };
    started.page.user = 'boss';
    submit(started.connection, readX);
    await settled();
    started.platform.advance(0);
    await welcome(started.platform, { principal: 'tag of boss' });
    return started.platform;
  }

  test('in a session of the former → it has ended, and its tokens go over no connection of the other', async () => {
    let late: ReturnType<typeof submit> | undefined;
    const platform = await whenNotified((connection, former) => {
      late = submit(connection, readX, quietContext({ session: former }));
    });
    expect(late?.calls).toMatchObject([{ error: { code: 'INVALID_ARGUMENT', field: 'session' } }]);
    expect(JSON.stringify(platform.socket.rows('submit'))).not.toContain('seen');
  });
});

describe('the principal cannot be read', () => {
  test.each([
    ['no text', () => undefined as never, { code: 'INVALID_ARGUMENT', field: 'principal' }],
    [
      'an error',
      () => {
        throw new TypeError('user is null');
      },
      new TypeError('user is null'),
    ],
  ])(
    'the function gives %s → the operation fails with that, and no connection is greeted',
    async (_, principal, error) => {
      const { platform, connection, states } = startPage({ principal });
      const sink = submit(connection, readX);
      expect(sink.calls).toMatchObject([{ error }]);
      platform.socket.open();
      await settled();
      expect(hellos(platform)).toEqual([]);
      expect(states.at(-1)).toBe('waiting');
    },
  );

  test.each([
    ['principal', { principal: 7 as never }],
    ['token', { principal: () => 'ada', token: 'a text is for one user only' }],
  ])('%s → refused', (field, options) => {
    expect(() => start(options)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }) as Error,
    );
  });

  test('a closed client → stays closed for every user', async () => {
    const { page, platform, connection } = await startPageOpen();
    platform.socket.lose(4403, 'rejected');
    page.user = 'boss';
    const sink = submit(connection, readX);
    expect(sink.calls).toMatchObject([{ error: { code: 'FORBIDDEN', retryable: false } }]);
  });

  test('a refused token → the next user is asked for one', async () => {
    const { page, platform, connection } = await startPageOpen();
    platform.socket.lose(4401, 'rejected');
    page.user = 'boss';
    const sink = submit(connection, readX);
    platform.advance(100);
    await welcome(platform);
    expect(sink.calls).toEqual([]);
    expect(platform.socket.rows('submit')).toHaveLength(1);
  });
});

describe('without the option', () => {
  test('an operation that waits for the first connection → sent with the token of the user who submitted it', async () => {
    const { page, platform, connection } = startPage({ principal: undefined });
    submit(connection, writeX);
    page.user = 'boss';
    await settled();
    await reconnect(platform);
    expect(hellos(platform)).toMatchObject([{ token: 'token of ada' }]);
    expect(page.asked).toBe(1);
  });
});
