/**
 * What the application gives may throw, at any of its uses: the client goes on, or ends with a
 * reason; nothing is lost.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isCorrectableError } from '../../../../src/correctable/errors.ts';
import { exponentialBackoff } from '../../../../src/correctable/backoff.ts';
import { MAX_TOKEN_LENGTH } from '../../../../src/protocol/messages/field-schemas.ts';
import { guardToken } from '../../../../src/transport/options/guard-callbacks.ts';
import type { ConnectionOptions } from '../../../../src/transport/options/options.ts';
import { readX, writeX, type SinkDouble } from '../../../support/wire.ts';
import { FakePlatform } from '../fake-platform.ts';
import { FakeServer } from '../fake-server.ts';
import { connectBy, start, startOpen, submit, welcome } from '../set-up.ts';

const MISTAKE = new Error('a mistake of the application');
const reported: unknown[] = [];

beforeEach(() => {
  reported.length = 0;
  vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void reported.push(warning));
});
afterEach(() => void vi.restoreAllMocks());

/** Counts the uses of what the application gives, and lets one of them fail. */
class Trap {
  readonly #at: number;
  uses = 0;

  constructor(at: number) {
    this.#at = at;
  }

  get isSprung(): boolean {
    return this.uses >= this.#at;
  }

  step(): void {
    this.uses++;
    if (this.uses === this.#at) throw MISTAKE;
  }
}

const backoff = exponentialBackoff();

/** A WebSocket class whose instances, or the making of them, may fail. */
function socketClass(
  platform: FakePlatform,
  trap: Trap,
  where: 'constructor' | 'send' | 'close',
): never {
  return class extends platform.WebSocket {
    constructor(url: string, protocols: string[]) {
      if (where === 'constructor') trap.step();
      super(url, protocols);
    }

    override send(data: string): void {
      if (where === 'send') trap.step();
      super.send(data);
    }

    override close(): void {
      super.close();
      if (where === 'close') trap.step();
    }
  } as never;
}

type Given = (trap: Trap, platform: FakePlatform) => Partial<ConnectionOptions>;

const CASES: readonly (readonly [name: string, uses: number, given: Given])[] = [
  ['token', 4, (trap) => ({ token: () => (trap.step(), 'token') })],
  [
    'token, by a rejection',
    4,
    (trap) => ({ token: () => new Promise<string>((resolve) => resolve((trap.step(), 'token'))) }),
  ],
  ['onStateChange', 12, (trap) => ({ onStateChange: () => trap.step() })],
  [
    'onStateChange, by a rejection',
    12,
    (trap) => ({ onStateChange: () => Promise.resolve().then(() => trap.step()) as never }),
  ],
  [
    'reconnect.delayMs',
    2,
    (trap) => ({
      reconnect: {
        delayMs: (attempt: number, random: () => number) => (
          trap.step(),
          backoff.delayMs(attempt, random)
        ),
      },
    }),
  ],
  ['random', 2, (trap) => ({ random: () => (trap.step(), 0.5) })],
  ['WebSocket', 3, (trap, platform) => ({ WebSocket: socketClass(platform, trap, 'constructor') })],
  ['WebSocket.send', 8, (trap, platform) => ({ WebSocket: socketClass(platform, trap, 'send') })],
  ['WebSocket.close', 3, (trap, platform) => ({ WebSocket: socketClass(platform, trap, 'close') })],
];

const TABLE = CASES.flatMap(([name, uses, value]) =>
  Array.from({ length: uses }, (_, index) => [name, index + 1, value] as const),
);

/**
 * A client's life: two losses, a renewal, a server that goes, the end; with operations under way at
 * each turn.
 */
async function live(
  value: Given,
  trap: Trap,
): Promise<{ sinks: SinkDouble[]; server: FakeServer; end: boolean }> {
  const platform = new FakePlatform();
  const server = new FakeServer(platform);
  server.expiresInMs = 10_000;
  const connection = connectBy(platform, value(trap, platform));
  const sinks: SinkDouble[] = [];
  const both = (): void => void sinks.push(submit(connection, writeX), submit(connection, readX));
  both();
  await server.serve(1_000);
  for (let losses = 0; losses < 2; losses++) {
    both();
    server.mute = losses === 1;
    await server.serve(100);
    platform.sockets.at(-1)?.lose();
    both();
    server.mute = false;
    await server.serve(1_000);
  }
  await server.serve(9_000);
  both();
  platform.tick();
  platform.sockets.at(-1)?.receive([0, 'goaway', 1_000]);
  await server.serve(2_000);
  // Waiting operations get their outcome at the end.
  const closing = connection.close();
  await server.serve(2_000);
  await closing;
  expect(connection.state).toBe('closed');
  expect(platform.timers).toBe(0);
  return { sinks, server, end: trap.isSprung };
}

/** The outcome that a caller got: a value, or an error. */
function getOutcome(sink: SinkDouble | undefined): { value?: unknown; error?: unknown } {
  const last = sink?.calls.at(-1);
  expect(last).toBeDefined();
  return last?.kind === 'write'
    ? { value: last.value }
    : { error: last?.kind === 'fail' ? last.error : undefined };
}

describe('callbacks that throw', () => {
  test.each(TABLE)('%s at use %d → everything settles truthfully', async (name, use, input) => {
    const { sinks, server, end } = await live(input, new Trap(use));
    expect(end).toBe(true);
    for (const [index, sink] of sinks.entries()) {
      const { value, error } = getOutcome(sink);
      const executed = server.executed.has(index + 1);
      if (value === 'done') expect(index % 2 === 1 || executed).toBe(true);
      else if (!isCorrectableError(error)) throw new Error('no typed error');
      else if (error.retryable && index % 2 === 0) expect(executed).toBe(false);
    }
    // The WebSocket class may refuse for good: a page under https gets no ws://. All else is
    // survived.
    if (name !== 'WebSocket')
      expect(sinks.map((sink) => getOutcome(sink).value)).toEqual(sinks.map(() => 'done'));
    if (/^(onStateChange|reconnect|random)/.test(name)) expect(reported).toEqual([MISTAKE]);
  });

  test.each([NaN, -1, 'soon', null])(
    'reconnect.delayMs gives %s → reported, the default instead',
    (delayMs) => {
      const { platform } = start({ reconnect: { delayMs: () => delayMs as never } });
      platform.socket.lose();
      platform.advance(100);
      expect(platform.sockets).toHaveLength(2);
      expect(reported).toMatchObject([{ code: 'INVALID_ARGUMENT', field: 'reconnect.delayMs' }]);
    },
  );

  test('onStateChange throws in the middle of a frame → what follows in it is read', async () => {
    const { platform, connection } = await startOpen({
      onStateChange: (state) => {
        if (state === 'waiting') throw MISTAKE;
      },
    });
    const sink = submit(connection, readX);
    platform.tick();
    platform.socket.receive([0, 'goaway', 3_000], [1, 'view', 1, 0, 'answer']);
    expect(await sink.call(0)).toMatchObject({ value: 'answer' });
    expect(reported).toEqual([MISTAKE]);
  });

  test('a sink throws → the rows after its own are read', async () => {
    const { platform, connection } = await startOpen();
    const bad = submit(connection, readX);
    bad.view = () => {
      throw MISTAKE;
    };
    const good = submit(connection, readX);
    platform.tick();
    platform.socket.receive([1, 'view', 1, 0, 'v'], [2, 'view', 1, 0, 'v']);
    expect(await good.call(0)).toMatchObject({ value: 'v' });
    expect(reported).toEqual([MISTAKE]);
  });

  test.each(['waiting', 'open', 'handshaking'] as const)(
    'onStateChange closes the client in %s → it is closed',
    async (when) => {
      const platform = new FakePlatform();
      let closing: Promise<void> | undefined;
      const connection = connectBy(platform, {
        onStateChange: (state) => {
          if (state === when) closing ??= connection.close();
        },
      });
      const sink = submit(connection, writeX);
      await welcome(platform);
      platform.socket.lose();
      platform.advance(2_000);
      await closing;
      expect(connection.state).toBe('closed');
      expect(await sink.failure(0)).toMatchObject({
        code: when === 'handshaking' ? 'UNAVAILABLE' : 'UNKNOWN',
      });
      expect(platform.timers).toBe(0);
    },
  );
});

test('a token of the maximum length → accepted; a longer one → rejected with its length', async () => {
  const longest = 'x'.repeat(MAX_TOKEN_LENGTH);
  expect(await guardToken(() => longest)()).toEqual({ principal: undefined, token: longest });
  await expect(guardToken(() => `${longest}x`)()).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: `has ${MAX_TOKEN_LENGTH + 1} characters, of ${MAX_TOKEN_LENGTH} at most`,
  });
});
