/** COR-9 early exit. */
import { expect, test, vi } from 'vitest';
import type { CorrectableEvent } from '../../../src/index.ts';
import { createClient } from '../../../src/index.ts';
import { dequeue, get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { virtualClock } from '../../../src/testing/virtual-clock.ts';
import { codeOf, heldBytes, LEVELS, manual, unhandledDuring } from './support.ts';

test('COR-9: settle enough → the first view that satisfies it; the operation goes on', async () => {
  const { c, sink } = manual<number>();
  const view = c.settle({ enough: ({ value }) => value > 1 });
  sink.view(1, 'weak');
  sink.view(2, 'causal');
  expect(await view).toMatchObject({ value: 2, final: false });
  expect(c.state).toBe('pending');
  sink.view(3, 'strong');
  expect(await c).toBe(3);
});

test('COR-9: settle enough throws → rejects with that error and listens no more, the operation is not disturbed', async () => {
  const clock = virtualClock();
  const { c, sink } = manual<number>({ clock });
  const enough = vi.fn(() => {
    throw new Error('bad condition');
  });
  const view = c.settle({ enough, withinMs: 10 });
  sink.view(1, 'weak');
  await expect(view).rejects.toThrow('bad condition');
  expect(c.state).toBe('pending');
  expect(clock.pendingTimers).toBe(0);
  sink.view(2, 'causal');
  expect(enough).toHaveBeenCalledTimes(1);
});

test('COR-9: settle withinMs → the best view at that time; the first one where there is none yet', async () => {
  const clock = virtualClock();
  const early = manual<number>({ clock });
  const best = early.c.settle({ withinMs: 10 });
  early.sink.view(1, 'weak');
  await clock.advance(5);
  early.sink.view(2, 'causal');
  await clock.advance(5);
  expect(await best).toMatchObject({ value: 2, level: 'causal' });

  const late = manual<number>({ clock });
  const first = late.c.settle({ withinMs: 10 });
  await clock.advance(10);
  late.sink.view(1, 'weak');
  expect(await first).toMatchObject({ value: 1, level: 'weak' });
});

test('COR-9: settle withinMs 0 → the view that there is', async () => {
  const clock = virtualClock();
  const { c, sink } = manual<number>({ clock });
  sink.view(1, 'weak');
  const view = c.settle({ withinMs: 0 });
  await clock.advance(0);
  expect(await view).toMatchObject({ value: 1, level: 'weak' });
});

test('COR-9: settle withinMs, the final comes first → the final, and no timer stays', async () => {
  const clock = virtualClock();
  const { c, sink } = manual<number>({ clock });
  const view = c.settle({ withinMs: 10 });
  sink.view(1, 'strong');
  expect(await view).toMatchObject({ final: true });
  expect(clock.pendingTimers).toBe(0);
});

test('COR-9: settle orLatest, the final fails → the last view, which is not final', async () => {
  const { c, sink } = manual<number>();
  const view = c.settle({ orLatest: true });
  sink.view(1, 'weak');
  sink.fail(new Error('offline'));
  expect(await view).toMatchObject({ value: 1, final: false });
});

test('COR-9: settle orLatest, no view at all → the error', async () => {
  const { c, sink } = manual<number>();
  const view = c.settle({ orLatest: true });
  sink.fail(new Error('offline'));
  expect(await codeOf(view)).toBe('FINAL_FAILED');
});

test('COR-9: rest abort → the operation is cancelled; a write becomes UNKNOWN', async () => {
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding);
  for (const [operation, code] of [
    [get('k'), 'ABORTED'],
    [dequeue('q'), 'UNKNOWN'],
  ] as const) {
    const c = client.invoke<unknown>(operation);
    const view = c.settle({ enough: () => true, afterEarly: 'cancel' });
    const call = await binding.next();
    expect(call.context.signal.aborted).toBe(false);
    call.view(1, 'weak');
    await view;
    expect(call.context.signal.aborted).toBe(true);
    expect(await codeOf(c)).toBe(code);
  }
});

test('COR-9: rest detach → the signal of the operation does not abort', async () => {
  const binding = scriptedBinding(LEVELS);
  const view = createClient(binding)
    .invoke(dequeue('q'))
    .settle({ enough: () => true });
  const call = await binding.next();
  call.view({ item: 1 }, 'weak');
  await view;
  expect(call.context.signal.aborted).toBe(false);
});

test('COR-9: a failure after an early answer → onEvent, never the process', async () => {
  const onEvent = vi.fn();
  const reasons = await unhandledDuring(async () => {
    const { c, sink } = manual<number>({ onEvent });
    const view = c.settle({ enough: () => true });
    sink.view(1, 'weak');
    await view;
    sink.fail(new Error('down'));
  });
  expect(reasons).toEqual([]);
  expect(onEvent).toHaveBeenCalledExactlyOnceWith({
    type: 'late-failure',
    error: expect.objectContaining({ code: 'FINAL_FAILED' }),
  });
});

test('COR-9: when(level) → a view at it or above, also one that came before', async () => {
  const { c, sink } = manual<number>();
  sink.view(1, 'weak');
  expect(await c.when('weak')).toMatchObject({ value: 1 });
  const causal = c.when('causal');
  sink.view(2, 'strong');
  expect(await causal).toMatchObject({ value: 2, level: 'strong', final: true });
  expect(await c.when('weak')).toMatchObject({ value: 2 });
});

test('COR-9: when(level), the operation fails first → LEVEL_NOT_REACHED with the cause', async () => {
  const { c, sink } = manual<number>();
  const causal = c.when('causal').catch((error: unknown) => error);
  sink.view(1, 'weak');
  sink.fail(new Error('down'));
  expect(await causal).toMatchObject({
    code: 'LEVEL_NOT_REACHED',
    level: 'causal',
    lastView: { value: 1 },
    cause: { code: 'FINAL_FAILED' },
  });
});

test('COR-9: when(level) withinMs → LEVEL_NOT_REACHED, the operation goes on', async () => {
  const clock = virtualClock();
  const { c } = manual<number>({ clock });
  const code = codeOf(c.when('causal', { withinMs: 5 }));
  await clock.advance(5);
  expect(await code).toBe('LEVEL_NOT_REACHED');
  expect(c.state).toBe('pending');
});

test('COR-9: 20 000 settles that leave early → nothing of them stays on a long-lived Correctable', async () => {
  const clock = virtualClock();
  const { c, sink } = manual<number>({ clock });
  sink.view(1, 'weak');
  let requested = 0;
  const enough = (): boolean => ++requested > 0;
  const before = heldBytes();
  for (let round = 0; round < 20; round++) {
    await Promise.all(Array.from({ length: 1000 }, () => c.settle({ enough, withinMs: 1000 })));
  }
  expect(requested).toBe(20_000);
  expect(clock.pendingTimers).toBe(0);
  // Other work of the process holds memory for a moment, a leak stays.
  await expect.poll(() => heldBytes() - before).toBeLessThan(200_000);
  sink.view(2, 'causal');
  expect(requested).toBe(20_000);
});

test('COR-9: settles that lose a race → gone with their deadline, while the operation goes on', async () => {
  const clock = virtualClock();
  const { c, sink } = manual<number>({ clock });
  let requested = 0;
  const enough = (): boolean => ++requested < 0;
  sink.view(1, 'weak');
  const races = Array.from({ length: 1000 }, () => c.settle({ enough, withinMs: 5 }));
  await clock.advance(5);
  await Promise.all(races);
  expect(requested).toBe(1000);
  sink.view(2, 'causal');
  expect(requested).toBe(1000);
});

test('COR-9: a view was taken early, and the final has another value → reported and counted; the same value → counted', async () => {
  const events: CorrectableEvent[] = [];
  const binding = scriptedBinding(LEVELS);
  const client = createClient(binding, { onEvent: (event) => events.push(event) });
  const settle = async (final: number): Promise<void> => {
    const read = client.invoke(get('k'));
    const early = read.settle({ enough: () => true });
    const call = await binding.next();
    call.view(1, 'weak');
    await early;
    call.view(final, 'strong');
    await read.settle();
  };
  await settle(1);
  expect(events).toEqual([]);
  await settle(2);
  expect(client.stats).toMatchObject({ earlyConfirmed: 1, earlyCorrected: 1 });
  expect(events).toMatchObject([
    {
      type: 'late-correction',
      operation: { name: 'get', key: 'k' },
      earlyView: { value: 1, level: 'weak' },
      final: { value: 2, level: 'strong' },
    },
  ]);
});
