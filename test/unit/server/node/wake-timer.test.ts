/** The timer by which a site wakes for callers, if no message and no tick comes before. */
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { WakeTimer } from '../../../../src/server/node/wake-timer.ts';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

test('an earlier time comes while it waits → it wakes at that, once', () => {
  const woken: number[] = [];
  const fromMs = performance.now();
  const timer = new WakeTimer(() => woken.push(performance.now() - fromMs));
  for (const ms of [50, 20, 30]) timer.set(fromMs + ms);
  vi.advanceTimersByTime(100);
  expect(woken).toEqual([20]);
  timer.set(fromMs + 150);
  vi.advanceTimersByTime(100);
  expect(woken).toEqual([20, 150]);
});

test('it is cleared → it does not wake', () => {
  const onWake = vi.fn();
  const timer = new WakeTimer(onWake);
  timer.set(performance.now() + 10);
  timer.clear();
  vi.advanceTimersByTime(100);
  expect(onWake).not.toHaveBeenCalled();
});
