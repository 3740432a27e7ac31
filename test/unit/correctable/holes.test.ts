/** Branches of the core that other tests do not reach: events that are reported exactly once. */
import { expect, test } from 'vitest';
import { ThrottleSlots } from '../../../src/correctable/throttle/throttle-slots.ts';
import { manual, record, settled } from './support.ts';

test('COR-8: the result of a run is confirmed at a level that its input does not support → no second equal preview', async () => {
  const { c, sink } = manual<number>();
  const inner = manual<number>();
  const lines = record(c.speculate(() => inner.c));
  sink.view(1, 'weak');
  inner.sink.view(5, 'weak');
  inner.sink.confirm('causal', 0);
  await settled();
  expect(lines).toEqual(['write 5 weak']);
});

test('COR-1: a view that comes after the final → has a number of its own all the same', () => {
  const { sink } = manual<string>();
  expect([sink.view('a', 'weak'), sink.view('b', 'strong'), sink.view('c', 'strong')]).toEqual([
    0, 1, 2,
  ]);
});

test('places: the clock is set back while many rest → each rests for one turn, the last too', () => {
  const places = new ThrottleSlots({ maxInFlight: 3, minSlotIntervalMs: 40 });
  for (let i = 0; i < 3; i += 1) expect(places.tryAcquire(60_000)).toBe(true);
  for (let i = 0; i < 3; i += 1) places.release(60_000, 60_010);
  expect(places.tryAcquire(10)).toBe(false);
  expect([
    places.tryAcquire(50),
    places.tryAcquire(50),
    places.tryAcquire(50),
    places.tryAcquire(50),
  ]).toEqual([true, true, true, false]);
});
