/** The server's heartbeat, with a socket and time driven by hand. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createGatewayWith, type Gateway } from '../../../../../src/server/gateway/gateway.ts';
import { RawClient, StoreDouble } from '../../../../support/wire.ts';
import { SocketByHand } from '../listen/raw-socket.ts';

/** Notes what is sent as well: nothing should be. */
class QuietSocket extends SocketByHand {
  override send(): void {
    this.calls.push('send');
  }
}

/** A check runs in the poll that follows its timer. */
const CHECK_MS = 1_001;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function accept(): { gateway: Gateway; socket: QuietSocket } {
  const bounds = { heartbeatIntervalMs: 1_000, helloTimeoutMs: 1e6 };
  const gateway = createGatewayWith(bounds, { binding: new StoreDouble() });
  const socket = new QuietSocket();
  gateway.accept(socket, { remoteAddress: undefined, origin: undefined });
  return { gateway, socket };
}

test('heartbeat: answered every time → the connection stays', () => {
  const { gateway, socket } = accept();
  for (let i = 0; i < 5; i++) {
    vi.advanceTimersByTime(CHECK_MS);
    socket.events.onPong();
  }
  expect(socket.calls).toEqual(['ping', 'ping', 'ping', 'ping', 'ping']);
  expect(gateway.status().connections).toBe(1);
});

test('heartbeat: not answered → cut off at the next one', () => {
  const { gateway, socket } = accept();
  vi.advanceTimersByTime(2 * CHECK_MS);
  expect(socket.calls).toEqual(['ping', 'terminate']);
  expect(gateway.status().connections).toBe(0);
});

test('a pong that waits in the socket behind a blocked event loop counts', () => {
  const { gateway, socket } = accept();
  vi.advanceTimersByTime(CHECK_MS);
  // The timer of the next check fires first; the pong is read in the poll that follows the timers.
  vi.advanceTimersByTime(1_000);
  socket.events.onPong();
  vi.advanceTimersByTime(1);
  expect(gateway.status().connections).toBe(1);
});

test('heartbeat: while the gateway drains without end → who is gone is cut all the same, and it closes', async () => {
  const { gateway, socket } = accept();
  socket.say([0, 'hello', RawClient.hello()]);
  await vi.advanceTimersByTimeAsync(0);
  const closed = gateway.close({ drainMs: Infinity });
  await vi.advanceTimersByTimeAsync(2 * CHECK_MS);
  expect(socket.calls.slice(-2)).toEqual(['ping', 'terminate']);
  await closed;
  expect([gateway.status().state, vi.getTimerCount()]).toEqual(['closed', 0]);
});

test('socket without a subprotocol of ours → INVALID_ARGUMENT', () => {
  const { gateway } = accept();
  const socket = Object.assign(new QuietSocket(), { subprotocol: '' });
  expect(() => gateway.accept(socket, { remoteAddress: undefined, origin: undefined })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'subprotocol' }) as Error,
  );
});
