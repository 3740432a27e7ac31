/** A socket that is paused, and one that is closed meanwhile. */
import { afterEach, expect, test, vi } from 'vitest';
import { openByHand, turn } from '../listen/raw-socket.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('too many bytes wait for the client → reading pauses until it has taken them; then all its messages are served', async () => {
  const { store, socket } = await openByHand({ bounds: { maxSendBufferBytes: 1_000 } });
  store.answer = ({ sink }) => sink.view('x'.repeat(5_000), 'strong');
  socket.say([1, 'submit', 'get', 'read', 2, null], [2, 'ping']);
  expect(socket.calls).toEqual(['pause']);
  // It had been read from the network before.
  socket.say([3, 'ping']);
  await turn();
  expect(socket.rows.map(([id]) => id)).toEqual([0, 1]);
  expect(socket.calls).not.toContain('resume');
  socket.drain();
  await turn();
  expect(socket.rows.slice(2)).toEqual([
    [2, 'pong'],
    [3, 'pong'],
  ]);
  expect(socket.calls.at(-1)).toBe('resume');
});

test('closed by a row in the middle of a frame → is read from, or the answer to its close would never come', async () => {
  const { socket } = await openByHand({ bounds: { maxMalformedMessages: 1 } });
  socket.say(['nonsense'], [1, 'ping']);
  expect(socket.calls).toEqual(['close 4400']);
});

test('silent at two heartbeats while something waits for it to move → not cut off', async () => {
  vi.useFakeTimers();
  const { socket } = await openByHand({
    bounds: { heartbeatIntervalMs: 1_000, stallTimeoutMs: 60_000 },
  });
  socket.bufferedBytes = 1e6;
  socket.say([1, 'ping']);
  await vi.advanceTimersByTimeAsync(1);
  socket.say([2, 'ping']);
  await vi.advanceTimersByTimeAsync(3_500);
  expect(socket.calls).not.toContain('terminate');
});
