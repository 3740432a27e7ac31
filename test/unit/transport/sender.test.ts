/** What goes out with a submission, and what the one who submits too much is told. */
import { expect, test } from 'vitest';
import { quietContext, readX, SinkDouble } from '../../support/wire.ts';
import { settled } from './fake-platform.ts';
import { start, startOpen, submit } from './set-up.ts';

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

test('more than may be under way → OVERLOADED, to be tried again after a tenth of a second', async () => {
  const { connection } = await startOpen({ inFlightMax: 1 });
  submit(connection);
  expect(await submit(connection).failure(0)).toMatchObject({ code: 'OVERLOADED', retryAfterMs: 100 });
});

test('the application says who is signed in → so does the connection, to whoever stands in front of it', () => {
  expect(start({ principal: () => 'ann' }).connection.principal?.()).toBe('ann');
});
