/** When it is noticed that an operation was cancelled: those that are under way for a while are looked at. */
import { expect, test } from 'vitest';
import { Cancellation } from '../../../../src/transport/operations/cancellation.ts';
import type { InFlightOperation } from '../../../../src/transport/operations/in-flight-operation.ts';
import { InFlight } from '../../../../src/transport/operations/in-flight.ts';
import { quietContext, readX } from '../../../support/wire.ts';
import { FakePlatform } from '../fake-platform.ts';
import { startOpen, submit } from '../set-up.ts';

test('submitted while others wait to be looked at, and cancelled → noticed when it is its turn', async () => {
  const { platform, connection } = await startOpen();
  const controller = new AbortController();
  submit(connection, readX);
  platform.advance(15);
  submit(connection, readX, quietContext({ signal: controller.signal }));
  controller.abort();
  platform.advance(10);
  expect(platform.socket.rows('cancel')).toEqual([]);
  platform.advance(20);
  expect(platform.socket.rows('cancel')).toEqual([[2, 'cancel']]);
});

test('nothing is under way any more → nobody looks', async () => {
  const { platform, connection } = await startOpen({ heartbeatMs: Infinity });
  submit(connection, readX);
  platform.advance(15);
  submit(connection, readX);
  platform.tick();
  platform.socket.receive([1, 'view', 1, 0, 'v'], [2, 'view', 1, 0, 'v']);
  platform.advance(100);
  expect(platform.timers).toBe(0);
});

test.each([
  ['waits a second time → told once that it was cancelled', false],
  ['has ended → not told, and its signal holds nothing of it', true],
])('an operation that %s', (_, hasEnded) => {
  const told: unknown[] = [];
  const cancellation = new Cancellation(new InFlight([]), new FakePlatform(), (operation) => told.push(operation));
  const controller = new AbortController();
  const { signal } = controller;
  const operation = { release: undefined, context: quietContext({ signal }) } as InFlightOperation;
  cancellation.listen(operation);
  cancellation.listen(operation);
  if (hasEnded) operation.release?.();
  controller.abort();
  expect(told).toEqual(hasEnded ? [] : [operation]);
});
