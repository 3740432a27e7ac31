/** What bounds the updates of others that a view cannot know of: places, turns, and how long agreement takes. */
import { expect, test } from 'vitest';
import { AgreementTime } from '../../../src/correctable/pace/agreement-time.ts';
import { Places } from '../../../src/correctable/pace/places.ts';
import { unseenMax } from '../../../src/correctable/pace/unseen.ts';

test('unseen: nobody else → none; somebody without a pace → no bound', () => {
  expect(unseenMax({ withinMs: 1000, others: [] })).toBe(0);
  expect(unseenMax({ withinMs: 0, others: [{ window: 5, turnMs: 0 }] })).toBe(Infinity);
});

test('unseen: a full window under way, and one more for every turn that begins meanwhile', () => {
  const others = [{ window: 5, turnMs: 20 }];
  const at = (withinMs: number): number => unseenMax({ withinMs, others });
  expect([at(0), at(1), at(20), at(21), at(100)]).toEqual([5, 10, 10, 15, 30]);
  expect(unseenMax({ withinMs: 100, others: [...others, { window: 1, turnMs: 200 }] })).toBe(32);
});

test('places: all taken → none; one that is left early rests until its turn is over', () => {
  const places = new Places({ window: 2, turnMs: 40 });
  expect([places.take(0), places.take(10), places.take(10)]).toEqual([true, true, false]);
  places.leave(10, 15);
  places.leave(0, 20);
  expect(places.nextFreeAtMs).toBe(40);
  expect([places.take(39), places.take(40), places.take(49), places.take(50)]).toEqual([false, true, false, true]);
  places.leave(40, 100);
  expect([places.nextFreeAtMs, places.take(100)]).toEqual([undefined, true]);
});

test('places: the clock is set back → a place rests for one turn, not until the clock is where it was', () => {
  const places = new Places({ window: 2, turnMs: 40 });
  expect([places.take(60_000), places.take(60_000)]).toEqual([true, true]);
  places.leave(60_000, 60_010);
  places.leave(60_000, 10);
  expect([places.take(10), places.nextFreeAtMs]).toEqual([false, 50]);
  expect([places.take(50), places.take(50), places.take(50)]).toEqual([true, true, false]);
});

test('agreement: nothing seen yet → not known', () => {
  const agreement = new AgreementTime();
  agreement.drop(agreement.begin(0));
  expect(agreement.withinMs(1000)).toBeUndefined();
});

test('agreement: the clock is set back meanwhile → nothing is learnt of that one', () => {
  const agreement = new AgreementTime();
  agreement.end(agreement.begin(60_000), 10);
  expect(agreement.withinMs(10)).toBeUndefined();
  agreement.end(agreement.begin(10), 110);
  agreement.end(agreement.begin(110), 50);
  expect(agreement.withinMs(110)).toBeGreaterThan(100);
});

test('agreement: as long as the slowest lately, and longer than the oldest one has waited', () => {
  const agreement = new AgreementTime();
  agreement.end(agreement.begin(0), 100);
  agreement.end(agreement.begin(100), 120);
  const usual = agreement.withinMs(200) as number;
  expect(usual).toBeGreaterThan(100);
  expect(usual).toBeLessThan(200);
  const waiting = agreement.begin(200);
  expect(agreement.withinMs(250)).toBe(usual);
  expect(agreement.withinMs(1200)).toBeGreaterThan(1000);
  agreement.drop(waiting);
  expect(agreement.withinMs(1200)).toBe(usual);
});

test('agreement: a slow one is forgotten by and by, once faster ones have come; not by waiting', () => {
  const agreement = new AgreementTime();
  agreement.end(agreement.begin(0), 1000);
  expect(agreement.withinMs(600_000)).toBe(agreement.withinMs(1000));
  for (let atMs = 1000; atMs < 30_000; atMs += 100) agreement.end(agreement.begin(atMs), atMs + 20);
  expect(agreement.withinMs(30_000)).toBeLessThan(50);
});
