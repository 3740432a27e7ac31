/** A signal whose listeners may fail. What escapes to the process would fail the run. */
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { createGuardedController } from '../../../../../src/server/gateway/operations/call-hook.ts';

const fails = (): never => {
  throw new Error('of the store');
};

test.each([
  ['a function', (signal: AbortSignal) => signal.addEventListener('abort', fails)],
  ['an object', (signal: AbortSignal) => signal.addEventListener('abort', { handleEvent: fails })],
  ['onabort', (signal: AbortSignal) => (signal.onabort = fails)],
  [
    'a promise',
    (signal: AbortSignal) =>
      signal.addEventListener('abort', (() => Promise.reject(new Error('x'))) as () => void),
  ],
])('%s fails → reported, the other listeners are called', async (_, listen) => {
  const thrown: unknown[] = [];
  const controller = createGuardedController((error) => thrown.push(error));
  listen(controller.signal);
  const other = vi.fn();
  controller.signal.addEventListener('abort', other);
  controller.abort();
  await new Promise(setImmediate);
  expect(thrown).toEqual([expect.any(Error)]);
  expect(other).toHaveBeenCalledOnce();
});

test('a listener that was removed, or taken back from onabort → not called; once → once', () => {
  const { signal, abort } = bound();
  const [removed, replaced, retained, twice] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
  signal.addEventListener('abort', removed);
  signal.removeEventListener('abort', removed);
  signal.onabort = replaced;
  signal.onabort = retained;
  signal.addEventListener('abort', twice, { once: true });
  signal.addEventListener('abort', twice, { once: true });
  abort();
  expect([removed, replaced, retained, twice].map(({ mock }) => mock.calls.length)).toEqual([
    0, 0, 1, 1,
  ]);
  expect(retained.mock.contexts[0]).toBe(signal);
});

test('is a signal of the platform → works with what takes one', async () => {
  const { signal, abort } = bound();
  expect(signal).toBeInstanceOf(AbortSignal);
  const any = AbortSignal.any([signal]);
  const waiting = once(new EventTarget(), 'never', { signal });
  abort();
  expect(any.aborted).toBe(true);
  await expect(waiting).rejects.toThrow(/aborted/);
});

function bound(): { signal: AbortSignal; abort: () => void } {
  const controller = createGuardedController(fails);
  return { signal: controller.signal, abort: () => controller.abort() };
}
