/** The platform's timers and clock. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { platformScheduling } from '../../../../src/transport/settings/scheduling.ts';

const STEP_MS_MAX = 2 ** 31 - 1;

describe('timers', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each([1, STEP_MS_MAX, STEP_MS_MAX + 1, 3 * STEP_MS_MAX + 5])('%d ms → fires then, not before', (delayMs) => {
    const fired = vi.fn<() => void>();
    platformScheduling().setTimer(fired, delayMs);
    vi.advanceTimersByTime(delayMs - 1);
    expect(fired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(fired).toHaveBeenCalledOnce();
  });

  test('Infinity → never fires, and sets no timer', () => {
    platformScheduling().setTimer(() => {}, Infinity);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('cancelled after its first step → does not fire', () => {
    const fired = vi.fn<() => void>();
    const cancel = platformScheduling().setTimer(fired, 2 * STEP_MS_MAX);
    vi.advanceTimersByTime(STEP_MS_MAX + 1);
    cancel();
    vi.advanceTimersByTime(STEP_MS_MAX);
    expect(fired).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('clock: somebody sets the machine’s clock back → it goes on', () => {
  const { now } = platformScheduling();
  const before = now();
  const spy = vi.spyOn(Date, 'now').mockReturnValue(0);
  expect(now()).toBeGreaterThanOrEqual(before);
  spy.mockRestore();
  expect(Math.abs(before - Date.now())).toBeLessThan(3_600_000);
});

test('clock of the machine → what it says, since deadlines are of that', () => {
  const spy = vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000);
  expect(platformScheduling().wallNow?.()).toBe(1_700_000_000_000);
  spy.mockRestore();
});
