/** What a connection leaves behind, and what one waits for whose server goes away. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { greetAt, openByHand, turn, type SocketByHand } from '../listen/raw-socket.ts';

const READ = ['get', 'read', 2, { key: 'x' }];
const UPDATE = ['put', 'write', 2, { key: 'x' }];

afterEach(() => {
  vi.useRealTimers();
});

test('closed before its token has ended → the timer of the token is gone', async () => {
  vi.useFakeTimers();
  const { socket } = await openByHand({
    authenticate: () => ({ id: 'ada', expiresAt: Date.now() + 60_000 }),
    limits: { heartbeatIntervalMs: Infinity },
  });
  const before = vi.getTimerCount();
  socket.events.onClose();
  expect(vi.getTimerCount()).toBe(before - 1);
});

test('closed while a fresh token waits to be checked → it is not checked any more', async () => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
  const authenticate = vi.fn(() => ({ id: 'ada', expiresAt: Date.now() + 60_000 }));
  const { socket } = await openByHand({ authenticate, limits: { heartbeatIntervalMs: Infinity } });
  const renew = async (n: number): Promise<void> => {
    socket.say([0, 'renew', `token ${n}`]);
    await turn();
  };
  for (let n = 0; n < 10; n += 1) await renew(n);
  const checked = authenticate.mock.calls.length;
  expect(checked).toBeLessThan(10);
  socket.events.onClose();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(authenticate).toHaveBeenCalledTimes(checked);
});

test('cut off because it takes nothing, and goes on taking nothing → the socket is let go of', async () => {
  vi.useFakeTimers();
  const { gateway, store, socket } = await openByHand({ bounds: { stallTimeoutMs: 200 } });
  store.answer = ({ sink }) => sink.view('x'.repeat(200_000), 'strong');
  socket.bufferedBytes = 1e6;
  socket.say([1, 'submit', ...READ]);
  await turn();
  const calls = (): string[] => socket.calls.filter((call) => call !== 'ping');
  vi.advanceTimersByTime(199);
  expect(calls()).toEqual([]);
  vi.advanceTimersByTime(2);
  expect(calls()).toEqual(['close 4429']);
  vi.advanceTimersByTime(200);
  expect(calls()).toEqual(['close 4429', 'terminate']);
  expect(gateway.status().connections).toBe(0);
});

describe('refused although its token is good, since its principal has as many connections as it may', () => {
  const bounds = { maxConnectionsPerPrincipal: 1 };
  const remembered = ({ gateway }: Awaited<ReturnType<typeof openByHand>>): object => {
    const { connections, clients, replyBytes } = gateway.status();
    return { connections, clients, replyBytes };
  };

  test('again and again, by other names → nothing is kept of those clients', async () => {
    const opened = await openByHand({ bounds });
    const before = remembered(opened);
    for (let n = 0; n < 5; n += 1) {
      const socket = await greetAt(opened.gateway, { client: String(n).repeat(32) });
      expect(socket.calls).toEqual(['close 1013']);
      socket.events.onClose();
    }
    expect(remembered(opened)).toEqual(before);
    opened.socket.events.onClose();
    expect(remembered(opened)).toEqual({ connections: 0, clients: 0, replyBytes: 0 });
  });

  test('a client that is owed a reply → is gone again, and forgotten in its time', async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
    });
    const opened = await openByHand({ bounds: { ...bounds, clientIdleMs: 1_000 } });
    opened.socket.say([1, 'submit', ...UPDATE]);
    opened.socket.events.onClose();
    const other = await greetAt(opened.gateway, { client: 'b'.repeat(32) });
    const refused = await greetAt(opened.gateway, { attempt: 2 });
    expect(refused.calls).toEqual(['close 1013']);
    refused.events.onClose();
    expect(remembered(opened)).toMatchObject({ connections: 1, clients: 2 });
    vi.advanceTimersByTime(3_000);
    expect(remembered(opened)).toMatchObject({ connections: 1, clients: 1 });
    other.events.onClose();
    expect(remembered(opened)).toEqual({ connections: 0, clients: 0, replyBytes: 0 });
  });

  test('a client whose older connection is there still → takes over: it is the same one of its principal', async () => {
    const { gateway, socket } = await openByHand({ bounds });
    const newer = await greetAt(gateway, { attempt: 2 });
    expect([socket.calls, newer.calls]).toEqual([['close 4409'], []]);
    expect(newer.rows.map(([, kind]) => kind)).toEqual(['welcome']);
  });
});

describe('the server goes away, and the client has seen that', () => {
  const isClosed = ({ calls }: SocketByHand): boolean => calls.includes('close 1001');

  test('the client has not taken yet what waits for it → closed once it has', async () => {
    const { gateway, store, socket } = await openByHand();
    store.answer = ({ sink }) => sink.view('x'.repeat(200_000), 'strong');
    socket.bufferedBytes = 200_000;
    socket.say([1, 'submit', ...READ]);
    await turn();
    const closed = gateway.close({ drainMs: 60_000 });
    socket.say([1, 'pong']);
    expect(isClosed(socket)).toBe(false);
    socket.drain();
    expect(socket.rows.map(([, kind]) => kind)).toEqual([
      'welcome',
      'incoming',
      'view',
      'goaway',
      'ping',
    ]);
    expect(isClosed(socket)).toBe(true);
    socket.events.onClose();
    await closed;
  });

  test('a client that connects while the server closes gets goaway after its welcome', async () => {
    const { gateway, socket } = await openByHand();
    socket.say([1, 'submit', ...UPDATE]);
    await turn();
    const closed = gateway.close({ drainMs: 60_000 });
    const late = await greetAt(gateway, { client: 'b'.repeat(32) });
    expect(late.rows.map(([, kind]) => kind)).toEqual(['welcome', 'goaway', 'ping']);
    late.say([1, 'pong']);
    expect(isClosed(late)).toBe(true);
    for (const { events } of [late, socket]) events.onClose();
    await closed;
  });

  /** One operation waits to be allowed when the server goes. */
  async function undecided() {
    let decide: (allowed: boolean) => void = () => {};
    const authorize = (): Promise<boolean> => new Promise((resolve) => (decide = resolve));
    const opened = await openByHand({ authorize });
    const { gateway, socket } = opened;
    socket.say([1, 'submit', ...UPDATE]);
    await turn();
    const closed = gateway.close({ drainMs: 60_000 });
    socket.say([1, 'pong']);
    await turn();
    expect(isClosed(socket)).toBe(false);
    return { ...opened, closed, decide };
  }

  test.each([
    ['is refused', (decide: (allowed: boolean) => void) => decide(false), 'FORBIDDEN'],
    ['is cancelled', (_: unknown, socket: SocketByHand) => socket.say([1, 'cancel']), 'ABORTED'],
  ])(
    'the last operation in admission %s → its client gets the failure, then the connection closes',
    async (_, end, code) => {
      const { socket, closed, decide } = await undecided();
      end(decide, socket);
      await turn();
      expect(socket.rows.at(-1)?.slice(0, 3)).toEqual([1, 'fail', code]);
      expect(isClosed(socket)).toBe(true);
      socket.events.onClose();
      await closed;
    },
  );

  test('the operation that waits to be allowed is allowed → closed once that has ended', async () => {
    const { store, socket, closed, decide } = await undecided();
    decide(true);
    const { sink } = await store.next();
    expect(isClosed(socket)).toBe(false);
    sink.view('v', 'strong');
    expect(socket.rows.at(-1)).toEqual([1, 'view', 1, 0, 'v']);
    expect(isClosed(socket)).toBe(true);
    socket.events.onClose();
    await closed;
  });
});
