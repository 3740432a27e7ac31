/** A socket that is paused, and one that is closed meanwhile. */
import { expect, test, vi } from 'vitest';
import { createGateway } from '../../../src/server/gateway/gateway.ts';
import { RawClient, StoreDouble } from '../../support/wire.ts';
import { SocketByHand } from './socket-by-hand.ts';

async function open(limits: object = {}) {
  const store = new StoreDouble();
  const gateway = createGateway({ binding: store, limits });
  const socket = new SocketByHand();
  gateway.accept(socket, { remoteAddress: undefined, origin: undefined });
  socket.events.received(JSON.stringify([[0, 'hello', RawClient.hello()]]));
  await new Promise(setImmediate);
  return { gateway, store, socket };
}

test('closed by a row in the middle of a frame → is read from, or the answer to its close would never come', async () => {
  const { socket } = await open({ malformedMax: 1 });
  socket.events.received(JSON.stringify([['nonsense'], [1, 'ping']]));
  expect(socket.calls).toEqual(['close 4400']);
});

test('silent at two heartbeats while something waits for it to move → not cut off', async () => {
  vi.useFakeTimers();
  try {
    const gateway = createGateway({
      binding: new StoreDouble(),
      limits: { heartbeatMs: 1_000, stallTimeoutMs: 60_000 },
    });
    const socket = new SocketByHand();
    gateway.accept(socket, { remoteAddress: undefined, origin: undefined });
    socket.events.received(JSON.stringify([[0, 'hello', RawClient.hello()]]));
    await vi.advanceTimersByTimeAsync(1);
    socket.bufferedBytes = 1e6;
    socket.events.received(JSON.stringify([[1, 'ping']]));
    await vi.advanceTimersByTimeAsync(1);
    socket.events.received(JSON.stringify([[2, 'ping']]));
    await vi.advanceTimersByTimeAsync(3_500);
    expect(socket.calls).not.toContain('terminate');
  } finally {
    vi.useRealTimers();
  }
});
