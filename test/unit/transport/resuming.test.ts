/** Updates that are sent again, and those that end meanwhile. */
import { expect, test } from 'vitest';
import { quietContext, readX, writeX } from '../../support/wire.ts';
import type { FakePlatform } from './fake-platform.ts';
import { start, startOpen, submit, welcome } from './set-up.ts';

async function come(platform: FakePlatform, more: object = {}): Promise<void> {
  platform.socket.lose();
  platform.advance(10_000);
  await welcome(platform, more);
}

test('ended, and then its signal aborts → no cancel is sent', async () => {
  const { platform, connection } = await startOpen();
  const controller = new AbortController();
  submit(connection, readX, quietContext({ signal: controller.signal }));
  platform.advance(50);
  platform.socket.receive([1, 'view', 1, 0, 'done']);
  controller.abort();
  platform.tick();
  expect(platform.socket.rows('cancel')).toEqual([]);
});

test('the end of one that waited cancels another that waited → that is not sent', async () => {
  const { platform, connection } = start();
  const controller = new AbortController();
  const sink = { view: () => 0, confirm: () => {}, fail: () => controller.abort() };
  connection.submit({ ...writeX, args: 'x'.repeat(500) }, ['strong'], sink, quietContext());
  submit(connection, writeX, quietContext({ signal: controller.signal }));
  await welcome(platform, { limits: { maxFrameBytes: 300, maxInFlight: 9 } });
  expect(controller.signal.aborted).toBe(true);
  expect(platform.socket.rows('submit')).toEqual([]);
});

test('the end of one that waited closes the client → nothing more is sent', async () => {
  const { platform, connection } = start();
  const sink = { view: () => 0, confirm: () => {}, fail: () => void connection.close() };
  connection.submit({ ...writeX, args: 'x'.repeat(500) }, ['strong'], sink, quietContext());
  const other = submit(connection, writeX);
  await welcome(platform, { limits: { maxFrameBytes: 300, maxInFlight: 9 } });
  expect(platform.socket.rows('submit')).toEqual([]);
  expect(await other.failure(0)).toMatchObject({ code: 'UNAVAILABLE' });
});

test('reports each time that the connection is open again, and not the first time', async () => {
  let reconnects = 0;
  const { platform, connection } = await startOpen({ onReconnect: () => void reconnects++ });
  let reported = 0;
  const leave = connection.onReconnect(() => void reported++);
  expect([reconnects, reported]).toEqual([0, 0]);
  await come(platform);
  await come(platform);
  expect([reconnects, reported]).toEqual([2, 2]);
  leave();
  await come(platform);
  expect([reconnects, reported]).toEqual([3, 2]);
});
