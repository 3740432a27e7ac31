/**
 * How long a connection may take to be let in, with a socket and time driven by hand, and limits as
 * they are.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createGateway } from '../../../../../src/server/gateway/gateway.ts';
import type { Authenticate } from '../../../../../src/server/gateway/context/gateway-context.ts';
import { silentLogger, type Logger } from '../../../../../src/server/gateway/context/logger.ts';
import { RawClient, StoreDouble } from '../../../../support/wire.ts';
import { SocketByHand } from '../listen/raw-socket.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function accept(authenticate?: Authenticate, logger: Logger = silentLogger): SocketByHand {
  const limits = { heartbeatIntervalMs: Infinity };
  const gateway = createGateway({
    binding: new StoreDouble(),
    limits,
    logger,
    ...(authenticate && { authenticate }),
  });
  const socket = new SocketByHand();
  gateway.accept(socket, { remoteAddress: undefined, origin: undefined });
  return socket;
}

const hello = JSON.stringify([[0, 'hello', RawClient.hello()]]);
const hangs = (): Promise<never> => new Promise(() => {});

test('no hello → closed with 4408 in time', async () => {
  const socket = accept(hangs);
  await vi.advanceTimersByTimeAsync(4_999);
  expect(socket.calls).toEqual([]);
  await vi.advanceTimersByTimeAsync(2);
  expect(socket.calls).toEqual(['close 4408']);
});

test.each([0, 4_000])(
  'authenticate hangs, hello after %i ms → closed with 1011 in the time of hooks',
  async (afterMs) => {
    const socket = accept(hangs);
    await vi.advanceTimersByTimeAsync(afterMs);
    socket.events.onFrame(hello);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(socket.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(socket.calls).toEqual(['close 1011']);
  },
);

test('authenticate refuses a token → one line with its reason at the level info, and without the token', async () => {
  const lines: (readonly [object, string])[] = [];
  const logger = {
    ...silentLogger,
    info: (fields: object, text: string): void => void lines.push([fields, text]),
  };
  const err = new Error('unknown token');
  const socket = accept(() => Promise.reject(err), logger);
  socket.events.onFrame(JSON.stringify([[0, 'hello', { ...RawClient.hello(), token: 'secret' }]]));
  await vi.advanceTimersByTimeAsync(1);
  expect(socket.calls).toEqual(['close 4401']);
  expect(lines).toEqual([
    [{ err, remoteAddress: undefined, origin: undefined }, 'a client was not authenticated'],
  ]);
});

test('hello and authenticate take the time that each has → let in', async () => {
  const socket = accept(
    () => new Promise((resolve) => setTimeout(() => resolve({ id: 'ada' }), 4_900)),
  );
  await vi.advanceTimersByTimeAsync(4_900);
  socket.events.onFrame(hello);
  await vi.advanceTimersByTimeAsync(100_000);
  expect(socket.calls).toEqual([]);
});
