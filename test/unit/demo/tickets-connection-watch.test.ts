/** Lost sites: which, since when, and when it is time to give up. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConnectionWatch } from '../../../demo/tickets/page/connection-watch.ts';

const PATIENCE_MS = 6_000;

function watch(): { connections: ConnectionWatch; onChange: () => void; onAllGone: () => void } {
  const [onChange, onAllGone] = [vi.fn(), vi.fn()];
  return { connections: new ConnectionWatch({ onChange, onAllGone }), onChange, onAllGone };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('watch: one site lost for ever, another there → lost, but not given up', () => {
  const { connections, onAllGone } = watch();
  connections.note('frankfurt', 'open');
  connections.note('ireland', 'waiting');
  vi.advanceTimersByTime(10 * PATIENCE_MS);
  expect([connections.isLost('frankfurt'), connections.isLost('ireland')]).toEqual([false, true]);
  expect(onAllGone).not.toHaveBeenCalled();
});

test('watch: all sites lost for longer than the patience → reported, and again while it lasts', () => {
  const { connections, onAllGone } = watch();
  for (const site of ['frankfurt', 'ireland']) connections.note(site, 'waiting');
  vi.advanceTimersByTime(PATIENCE_MS - 1);
  expect(onAllGone).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1 + PATIENCE_MS);
  expect(onAllGone).toHaveBeenCalledTimes(2);
});

test('watch: all lost, one back in time → not given up', () => {
  const { connections, onAllGone } = watch();
  for (const site of ['frankfurt', 'ireland']) connections.note(site, 'waiting');
  vi.advanceTimersByTime(PATIENCE_MS - 1);
  connections.note('ireland', 'open');
  vi.advanceTimersByTime(10 * PATIENCE_MS);
  expect(onAllGone).not.toHaveBeenCalled();
});

test('whenOnline: any of the sites comes online → resolves; another one does not count', async () => {
  const { connections } = watch();
  const back = vi.fn();
  const waiting = connections.whenOnline(['frankfurt', 'ireland'], new AbortController().signal).then(back);
  connections.note('virginia', 'open');
  await Promise.resolve();
  expect(back).not.toHaveBeenCalled();
  connections.note('ireland', 'open');
  await waiting;
  expect(back).toHaveBeenCalledOnce();
});
