/** An open loop does not spare a server that stalls; a closed one asks no more than its window. */
import { expect, test, vi } from 'vitest';
import { closedLoop, openLoop, type Submit } from '../../../bench/load/loops.ts';

/** A clock that goes on by a millisecond at each look of the loop. */
function time(): {
  now: () => number;
  soon: (run: () => void) => void;
  at: (ms: number) => Promise<void>;
} {
  let nowMs = 0;
  const waiting: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    now: () => nowMs,
    soon: (run) =>
      setImmediate(() => {
        nowMs += 1;
        for (const { at, wake } of waiting) if (at <= nowMs) wake();
        run();
      }),
    at: (ms) =>
      ms <= nowMs ? Promise.resolve() : new Promise((wake) => waiting.push({ at: ms, wake })),
  };
}

test('open loop: a server that stalls for 50 ms → those that waited meanwhile count from when they were due', async () => {
  const { now, soon, at } = time();
  const begunAt: number[] = [];
  // One at a time, as a server that does nothing else meanwhile: the tenth stalls.
  const submit: Submit = (n) => {
    begunAt.push(now());
    return at(n === 10 ? now() + 50 : now());
  };
  const options = { perSecond: 1000, window: 1, durationMs: 200, now, soon };
  const { operations, latenciesMs } = await openLoop(submit, options);
  expect(operations).toBe(200);
  expect(begunAt).toHaveLength(200);
  // A closed loop would have seen one slow operation.
  expect(latenciesMs.filter((ms) => ms >= 10).length).toBeGreaterThan(30);
  expect(Math.max(...latenciesMs)).toBeGreaterThanOrEqual(50);
});

test('open loop: a server that answers at once → each begins when it is due', async () => {
  const { now, soon } = time();
  const begunAt: number[] = [];
  const submit: Submit = () => {
    begunAt.push(now());
    return Promise.resolve();
  };
  await openLoop(submit, { perSecond: 500, window: 100, durationMs: 100, now, soon });
  expect(begunAt).toEqual(Array.from({ length: 50 }, (_, n) => 2 * n));
});

test('open loop: an operation that fails → the run fails, and the loop ends', async () => {
  const soon = vi.fn((run: () => void) => void setImmediate(run));
  const options = { perSecond: 1000, window: 1, durationMs: 10, soon };
  await expect(openLoop(() => Promise.reject(new Error('refused')), options)).rejects.toThrow(
    'refused',
  );
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  expect(soon.mock.calls.length).toBeLessThan(3);
});

test('closed loop: never more in flight than its window', async () => {
  let inFlight = 0;
  let most = 0;
  const submit: Submit = async () => {
    most = Math.max(most, (inFlight += 1));
    await new Promise((resolve) => setImmediate(resolve));
    inFlight -= 1;
  };
  const { operations, latenciesMs } = await closedLoop(submit, 7, 20);
  expect(most).toBe(7);
  expect(latenciesMs.length).toBeGreaterThanOrEqual(Math.floor(operations / 16));
});
