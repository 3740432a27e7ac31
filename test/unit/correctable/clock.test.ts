/** The clock of the process: time limits count how long it is, not what the wall clock says (C1). */
import { afterEach, expect, test, vi } from 'vitest';
import { correctable, systemClock } from '../../../src/index.ts';

afterEach(() => void vi.restoreAllMocks());

const HOUR_MS = 3_600_000;

for (const shiftMs of [-HOUR_MS, HOUR_MS]) {
  test(`C1: the wall clock is set by ${shiftMs} ms → limits and times of views go on as before`, async () => {
    const before = systemClock.now();
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + shiftMs);
    const hanging = correctable(['quoted', 'charged'], (sink) => void sink.update(1, 'quoted'), { timeoutMs: 20 });
    const from = performance.now();
    const error = await hanging.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'TIMEOUT' });
    expect(performance.now() - from).toBeLessThan(HOUR_MS / 60);
    expect(hanging.latest!.at - before).toBeLessThan(HOUR_MS / 60);
    expect(hanging.latest!.at).toBeGreaterThanOrEqual(before);
  });
}

test('C1: now → whole milliseconds since the epoch', () => {
  expect(Number.isInteger(systemClock.now())).toBe(true);
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(HOUR_MS);
});
