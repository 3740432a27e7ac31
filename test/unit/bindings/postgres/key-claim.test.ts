/** How long a keyed write waits for a key that another one holds. */
import { expect, test, vi } from 'vitest';
import {
  createKeyBusyError,
  createKeyClaim,
  untilKeyFree,
} from '../../../../src/bindings/postgres/key-claim.ts';

const claim = { table: 'keys', key: 'order 1', identity: 'order x' };

// @rule REPL-19
test('the server ends a transaction without a statement after half of the remaining time', () => {
  vi.useFakeTimers();
  try {
    const getIdleMs = (deadlineAt?: number): unknown =>
      createKeyClaim({ ...claim, deadlineAt })[0].values[0];
    const nowMs = Date.now();
    expect(getIdleMs(nowMs + 4_000)).toBe('2000');
    expect(getIdleMs(nowMs + 500)).toBe('1000');
    expect(getIdleMs(nowMs + 60_000)).toBe('5000');
    expect(getIdleMs()).toBe('5000');
  } finally {
    vi.useRealTimers();
  }
});

// @rule REPL-19
test('a key that is in use is claimed again until the deadline, and then it is a CONFLICT', async () => {
  vi.useFakeTimers();
  try {
    let attempts = 0;
    let isFree = false;
    const write = async (): Promise<string> => {
      attempts += 1;
      if (isFree) return 'written';
      throw createKeyBusyError('order', new Error('canceling statement due to lock timeout'));
    };
    const failing = untilKeyFree(Date.now() + 2_000, write).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await failing).toMatchObject({ code: 'CONFLICT', retryable: true });
    expect(attempts).toBeGreaterThan(3);

    const succeeding = untilKeyFree(Date.now() + 2_000, write);
    await vi.advanceTimersByTimeAsync(100);
    isFree = true;
    await vi.advanceTimersByTimeAsync(500);
    expect(await succeeding).toBe('written');
  } finally {
    vi.useRealTimers();
  }
});
