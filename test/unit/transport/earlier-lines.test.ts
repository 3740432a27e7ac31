/**
 * An earlier connection that is kept for its results sends more than those: it does not change the
 * present connection.
 */
import { expect, test } from 'vitest';
import { settled, type FakeSocket } from './fake-platform.ts';
import { start, submit, welcome, type Fixture } from './set-up.ts';

/** A client that has moved on, while two answers are awaited on an earlier connection. */
async function moved(
  options: Parameters<typeof start>[0] = {},
): Promise<Fixture & { earlier: FakeSocket }> {
  const fixture = start(options);
  const { platform, connection } = fixture;
  await welcome(platform);
  submit(connection);
  submit(connection);
  platform.tick();
  const earlier = platform.socket;
  earlier.receive([0, 'goaway', 1_000_000]);
  platform.advance(0);
  await welcome(platform);
  expect([platform.sockets.length, connection.state]).toEqual([2, 'open']);
  return { ...fixture, earlier };
}

test('a word on it → the present server is asked all the same whether it is there, and must answer itself', async () => {
  const { platform, connection, earlier } = await moved();
  platform.advance(14_000);
  earlier.receive([1, 'pong']);
  platform.advance(1_000);
  expect([connection.state, platform.socket.rows('ping').length]).toEqual(['probing', 1]);
  earlier.receive([1, 'pong']);
  expect(connection.state).toBe('probing');
});

test('it sends goaway again → the present server is kept', async () => {
  const { connection, earlier } = await moved();
  earlier.receive([0, 'goaway', 1_000]);
  expect(connection.state).toBe('open');
});

test('it announces how long a token lasts → nothing is renewed on the present connection', async () => {
  const { platform, earlier } = await moved({ token: () => 'token' });
  earlier.receive([0, 'renewed', 1_000]);
  platform.advance(1_000);
  await settled();
  platform.tick();
  expect(platform.socket.rows('renew')).toEqual([]);
});

test('the present connection announces how long a token lasts → renewed repeatedly, but not before the welcome', async () => {
  let requested = 0;
  const { platform } = start({ token: () => `token ${++requested}` });
  platform.socket.open();
  await settled();
  platform.socket.receive([0, 'renewed', 1_000]);
  platform.advance(1_000);
  expect(requested).toBe(1);
  platform.socket.lose();
  platform.advance(50);
  await welcome(platform, { expiresInMs: 1_000 });
  for (const number of [3, 4]) {
    platform.advance(750);
    await settled();
    platform.tick();
    expect(platform.socket.rows('renew').at(-1)).toEqual([0, 'renew', `token ${number}`]);
    platform.socket.receive([0, 'renewed', 1_000]);
  }
});
