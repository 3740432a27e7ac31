/**
 * The clock of the process: time limits count how long it is, times of day are those of the wall
 * clock (COR-1).
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { correctable, createClient, systemClock } from '../../../src/index.ts';
import { getWallOffsetMs } from '../../../src/correctable/clock.ts';
import { get } from '../../../src/operations/index.ts';
import { scriptedBinding } from '../../../src/testing/scripted-binding.ts';
import { codeOf } from './support.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function setWallClock(byMs: number): void {
  const now = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => now() + byMs);
}

for (const byMs of [-HOUR_MS, HOUR_MS]) {
  describe(`COR-1: the wall clock is set by ${byMs} ms`, () => {
    test('while an operation runs → its limit goes on as before', async () => {
      const from = performance.now();
      const hanging = correctable(['quoted', 'charged'], () => 0, { timeoutMs: 20 });
      const code = codeOf(hanging);
      setWallClock(byMs);
      expect(await code).toBe('TIMEOUT');
      expect(performance.now() - from).toBeLessThan(MINUTE_MS);
    });

    test('while an operation runs → its deadline and its views are at times of the wall clock', async () => {
      const binding = scriptedBinding(['weak', 'strong']);
      const read = createClient(binding).invoke(get('k'), { timeoutMs: HOUR_MS });
      const call = await binding.next();
      setWallClock(byMs);
      expect(Math.abs(call.context.deadlineAt! - HOUR_MS - Date.now())).toBeLessThan(MINUTE_MS);
      call.view(1, 'strong');
      await read;
      expect(Math.abs(read.latest!.at - Date.now())).toBeLessThan(MINUTE_MS);
    });
  });
}

test('COR-1: a stretch of code runs for long before it invokes → the limit counts from the call', () => {
  let now = 1000;
  const clock = { now: () => now, setTimer: () => ({ cancel: () => {} }) };
  const binding = scriptedBinding(['weak', 'strong']);
  const client = createClient(binding, { clock });
  const reads = [0, 90].map((passedMs) => {
    now += passedMs;
    return client.invoke(get('k'), { timeoutMs: 100 });
  });
  expect(binding.calls.map(({ context }) => context.deadlineAt)).toEqual([1100, 1190]);
  for (const read of reads) read.onError(() => {}).cancel();
});

test('COR-1: now → whole milliseconds that never go back', () => {
  const before = systemClock.now();
  setWallClock(-HOUR_MS);
  expect(systemClock.now()).toBeGreaterThanOrEqual(before);
  expect(Number.isInteger(systemClock.now())).toBe(true);
});

test('COR-1: how far the wall clock is ahead → by its own word; not at all where a clock has none', () => {
  const clock = { now: () => 5, setTimer: () => ({ cancel: () => {} }) };
  expect(getWallOffsetMs({ ...clock, wallNow: () => 12 })).toBe(7);
  expect(getWallOffsetMs(clock)).toBe(0);
});

test('COR-1: a timer → holds the process until setRef(false), and again after setRef(true)', () => {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const timer = systemClock.setTimer(() => {}, HOUR_MS);
  const handle = set.mock.results[0]?.value as NodeJS.Timeout;
  const holds = [handle.hasRef()];
  for (const retained of [false, true]) {
    timer.setRef?.(retained);
    holds.push(handle.hasRef());
  }
  timer.cancel();
  expect(holds).toEqual([true, false, true]);
});

for (const toFake of [
  ['setTimeout', 'clearTimeout', 'Date'],
  ['setTimeout', 'clearTimeout'],
  undefined,
] as const) {
  test(`COR-1: timers are faked, ${toFake?.join() ?? 'the clock'} too → limits pass with them`, async () => {
    vi.useFakeTimers(toFake && { toFake: [...toFake] });
    const client = createClient(scriptedBinding(['weak', 'strong']));
    const reads = [1000, 1000, 2000].map((timeoutMs) => client.invoke(get('k'), { timeoutMs }));
    const codes = reads.map(codeOf);
    await vi.advanceTimersByTimeAsync(999);
    expect(reads.map(({ state }) => state)).toEqual(['pending', 'pending', 'pending']);
    // Where the clock is the world's own, it may have gone on between the two calls.
    await vi.advanceTimersByTimeAsync(500);
    expect(reads.map(({ state }) => state)).toEqual(['error', 'error', 'pending']);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await Promise.all(codes)).toEqual(['TIMEOUT', 'TIMEOUT', 'TIMEOUT']);
  });
}

test('COR-1: a delay beyond what setTimeout knows → fires when it is over, neither at once nor in between', async () => {
  vi.useFakeTimers();
  const fire = vi.fn();
  systemClock.setTimer(fire, 2 ** 32);
  await vi.advanceTimersByTimeAsync(2 ** 32 - 1);
  expect(fire).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(fire).toHaveBeenCalledOnce();
  const cancelled = systemClock.setTimer(fire, 2 ** 32);
  await vi.advanceTimersByTimeAsync(2 ** 31);
  cancelled.cancel();
  await vi.advanceTimersByTimeAsync(2 ** 32);
  expect(fire).toHaveBeenCalledOnce();
});

test('COR-1: a delay of Infinity → never fires, and can be cancelled', async () => {
  vi.useFakeTimers();
  const fire = vi.fn();
  const timer = systemClock.setTimer(fire, Infinity);
  await vi.advanceTimersByTimeAsync(2 ** 33);
  expect(fire).not.toHaveBeenCalled();
  timer.cancel();
  expect(vi.getTimerCount()).toBe(0);
});

test('COR-1: a long delay that does not hold the process → none of its steps does', async () => {
  vi.useFakeTimers();
  const set = vi.spyOn(globalThis, 'setTimeout');
  const timer = systemClock.setTimer(() => {}, 2 ** 32);
  timer.setRef?.(false);
  await vi.advanceTimersByTimeAsync(2 ** 31);
  expect(set.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([
    false,
    false,
  ]);
  timer.cancel();
});

test('COR-1: an operation has closed → its client has no timer left', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const binding = scriptedBinding(['weak', 'strong']);
  const client = createClient(binding);
  for (const timeoutMs of [undefined, 5000, 5000]) {
    const read = client.invoke(get('k'), { timeoutMs });
    (await binding.next()).view(1, 'strong');
    await read;
    expect(vi.getTimerCount()).toBe(0);
  }
});

test('COR-1: a test fakes the timers between two operations → the second one expires by the fake timers', async () => {
  const binding = scriptedBinding(['weak', 'strong']);
  const client = createClient(binding);
  const first = client.invoke(get('k'));
  (await binding.next()).view(1, 'strong');
  await first;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const code = codeOf(client.invoke(get('k')));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await code).toBe('TIMEOUT');
});
