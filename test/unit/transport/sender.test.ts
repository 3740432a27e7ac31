/** What goes out with a submission, and what a client that submits too much gets. */
import { expect, test } from 'vitest';
import { collectGarbage } from '../../support/garbage.ts';
import { quietContext, readX, SinkDouble } from '../../support/wire.ts';
import { settled } from './fake-platform.ts';
import { LIMITS, reconnect, start, startOpen, submit, welcome } from './set-up.ts';

test('one level is wanted → only that is asked for', async () => {
  const { platform, connection } = await startOpen();
  for (const levels of [['weak'], ['strong'], ['weak', 'strong']])
    connection.submit(readX, levels, new SinkDouble(), quietContext());
  platform.tick();
  expect(platform.socket.rows('submit').map((row) => row[4])).toEqual([1, 2, 3]);
});

test('submitted later with the same deadline → less time is left', async () => {
  const { platform, connection } = await startOpen();
  const context = quietContext({ deadlineAt: platform.now() + 1_000 });
  submit(connection, readX, context);
  await settled();
  platform.advance(400);
  submit(connection, readX, { ...context });
  platform.tick();
  expect(platform.socket.rows('submit').map((row) => row[7])).toEqual([1_000, 600]);
});

test('more than may be in flight → OVERLOADED, to be tried again after a tenth of a second', async () => {
  const { connection } = await startOpen({ maxInFlight: 1 });
  submit(connection);
  expect(await submit(connection).failure(0)).toMatchObject({
    code: 'OVERLOADED',
    retryAfterMs: 100,
  });
});

test('an argument is a getter that submits another operation → after a loss the older of the two goes first', async () => {
  const { platform, connection } = await startOpen();
  // Tables of numbers are made of pages: all of the first one has ended when that of the second one
  // begins.
  for (let id = 1; id <= 30; id++) {
    submit(connection);
    platform.tick();
    platform.socket.receive([id, 'view', 1, 0, 'v']);
  }
  let reads = 0;
  const args = {
    get key() {
      if (reads++ === 0) submit(connection);
      return 'x';
    },
  };
  submit(connection, { ...readX, args });
  platform.tick();
  await reconnect(platform);
  expect(platform.socket.rows('submit').map(([id]) => id)).toEqual([31, 32]);
});

test('ended while it waits for a place, and the application keeps the connection → nothing is kept of it', async () => {
  const { platform, connection } = start();
  await welcome(platform, { limits: { ...LIMITS, maxInFlight: 1 } });
  submit(connection);
  const context = (() => {
    const value = quietContext();
    submit(connection, readX, value);
    return new WeakRef(value);
  })();
  platform.tick();
  void connection.close();
  // What a weak reference is made of stays until all that has begun is over.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect([connection.state, context.deref()]).toEqual(['closing', undefined]);
});

test('the option `principal` → the connection has it, so that decorators can use it', () => {
  expect(start({ principal: () => 'ann' }).connection.principal?.()).toBe('ann');
});
