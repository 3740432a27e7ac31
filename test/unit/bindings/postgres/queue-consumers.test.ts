/** Who else takes from queues, and how much time lies between a view and its dequeue. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { QueueConsumers } from '../../../../src/bindings/postgres/queue-consumers.ts';
import type { Row } from '../../../../src/bindings/shared/statements/page.ts';

/** The clock of the primary is this much ahead of that of this process. */
const AHEAD_MS = 1_000_000;
const TRIP_MS = 45;
const OTHER = { id: 'other', max_in_flight: 10, min_slot_interval_ms: 40 };
const THROTTLE = { maxInFlight: 10, minSlotIntervalMs: 40 };

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function open(consumers: readonly object[] = [OTHER]) {
  const run = vi.fn(async () => ({
    rows: [{ consumers: JSON.stringify(consumers) }],
    pageState: undefined,
    changedRows: 1,
  }));
  const queues = new QueueConsumers({ table: 'consumers', throttle: THROTTLE, run });
  /** A dequeue that takes a round trip. */
  const take = (row: Row = {}): void => {
    const pending = queues.begin();
    const taken_at = String(nowMs + TRIP_MS + AHEAD_MS);
    nowMs += 2 * TRIP_MS;
    queues.end(pending, { taken_at, consumers: JSON.stringify(consumers), ...row });
  };
  /** A view that begins now, of a replica that shows what the primary had so long ago. */
  const see = (lagMs: number, shown: readonly object[] = consumers) =>
    queues.getConcurrentWriters({
      startedAtMs: nowMs,
      shown: { shown_at: String(nowMs + AHEAD_MS - lagMs), consumers: JSON.stringify(shown) },
    });
  return { queues, run, take, see };
}

test('before the first dequeue has its answer, nothing is known', () => {
  expect(open().see(0)).toBeUndefined();
});

test('without other processes, none takes', () => {
  const { take, see } = open([]);
  expect(see(0)).toEqual({ commitLatencyMs: 0, throttles: [] });
  take();
  expect(see(60_000)).toEqual({ commitLatencyMs: 0, throttles: [] });
});

test('the time is that from the state of the replica to the dequeue, whatever the clocks differ by', () => {
  const { take, see } = open();
  take();
  const latencyMs = 1.5 * (2 * TRIP_MS + 1);
  // A replica that is as near as the answers: the time of a round trip, and a half for safety.
  expect(see(TRIP_MS)?.commitLatencyMs).toBeCloseTo(latencyMs, 0);
  // A replica that is far behind.
  expect(see(5_000)?.commitLatencyMs).toBeCloseTo(5_000 + TRIP_MS + latencyMs / 3, 3);
});

test('processes are counted that the replica shows, and that the primary has shown', () => {
  const { take, see } = open();
  take();
  const third = { ...OTHER, id: 'third' };
  expect(see(TRIP_MS, [])?.throttles).toEqual([THROTTLE]);
  expect(see(TRIP_MS, [OTHER, third])?.throttles).toEqual([THROTTLE, THROTTLE]);
});

test('a replica that has replayed nothing says nothing of the time', () => {
  const { queues, take } = open();
  take();
  const shown = { shown_at: null, consumers: JSON.stringify([OTHER]) };
  expect(queues.getConcurrentWriters({ startedAtMs: nowMs, shown })).toBeUndefined();
});

test('the result of an idempotency key may be an old one, which says nothing', () => {
  const { take, see } = open();
  take();
  const before = see(TRIP_MS);
  take({ taken_at: String(AHEAD_MS), consumers: '[]' });
  expect(see(TRIP_MS)?.throttles).toEqual(before?.throttles);
});

test('a process registers before its first dequeue, and again beside later ones', async () => {
  const { queues, run } = open();
  const first = queues.register();
  expect(first).toBeInstanceOf(Promise);
  await first;
  expect(queues.register()).toBeUndefined();
  nowMs = 25_000;
  expect(queues.register()).toBeUndefined();
  expect(run).toHaveBeenCalledTimes(2);
  await vi.waitFor(() => expect(queues.register()).toBeUndefined());
  nowMs = 70_000;
  expect(queues.register()).toBeInstanceOf(Promise);
});

test('without a registration, no dequeue begins', async () => {
  const { queues, run } = open();
  run.mockRejectedValueOnce(new Error('down'));
  await expect(queues.register()).rejects.toThrow('down');
  await queues.register();
  expect(run).toHaveBeenCalledTimes(2);
});
