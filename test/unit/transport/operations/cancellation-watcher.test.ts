/**
 * When it is noticed that an operation was cancelled: those that are under way for a while are
 * looked at.
 */
import { expect, test } from 'vitest';
import { CancellationWatcher } from '../../../../src/transport/sender.ts';
import type { InFlightOperation } from '../../../../src/transport/operations/in-flight-operation.ts';
import { InFlightOperations } from '../../../../src/transport/operations/in-flight-operations.ts';
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

test('nothing is in flight any more → no timer runs', async () => {
  const { platform, connection } = await startOpen({ heartbeatIntervalMs: Infinity });
  submit(connection, readX);
  platform.advance(15);
  submit(connection, readX);
  platform.tick();
  platform.socket.receive([1, 'view', 1, 0, 'v'], [2, 'view', 1, 0, 'v']);
  platform.advance(100);
  expect(platform.timers).toBe(0);
});

test.each([
  ['waits a second time → its cancellation is reported once', false],
  ['has ended → not reported, and its signal holds nothing of it', true],
])('an operation that %s', (_, hasEnded) => {
  const reported: unknown[] = [];
  const cancellation = new CancellationWatcher(
    new InFlightOperations([]),
    new FakePlatform(),
    (operation) => reported.push(operation),
  );
  const controller = new AbortController();
  const { signal } = controller;
  const operation = {
    removeAbortListener: undefined,
    context: quietContext({ signal }),
  } as InFlightOperation;
  cancellation.listenToSignal(operation);
  cancellation.listenToSignal(operation);
  if (hasEnded) operation.removeAbortListener?.();
  controller.abort();
  expect(reported).toEqual(hasEnded ? [] : [operation]);
});
