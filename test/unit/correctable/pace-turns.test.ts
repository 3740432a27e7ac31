/** Places and turns to the millisecond, and how long agreement takes by the numbers. */
import { expect, test } from 'vitest';
import { AgreementTime } from '../../../src/correctable/pace/agreement-time.ts';
import { Places } from '../../../src/correctable/pace/places.ts';
import { unseenMax } from '../../../src/correctable/pace/unseen.ts';

test('unseen: turns shorter than a millisecond → are turns', () => {
  expect(unseenMax({ withinMs: 2, others: [{ window: 1, turnMs: 0.5 }] })).toBe(5);
});

test('places: one is left when its turn is over → it is free, and no other', () => {
  const places = new Places({ window: 1, turnMs: 40 });
  expect(places.take(0)).toBe(true);
  places.leave(0, 40);
  expect([places.nextFreeAtMs, places.take(40), places.take(40)]).toEqual([undefined, true, false]);
});

test('places: left one after the other → free in that order', () => {
  const places = new Places({ window: 3, turnMs: 40 });
  for (const atMs of [0, 10, 20]) expect(places.take(atMs)).toBe(true);
  for (const atMs of [0, 10, 20]) places.leave(atMs, 30);
  expect([places.nextFreeAtMs, places.take(40), places.nextFreeAtMs, places.take(50)]).toEqual([40, true, 50, true]);
  expect([places.nextFreeAtMs, places.isRested(59), places.isRested(60)]).toEqual([60, false, true]);
});

test('places: nobody has been there → rested, and none rests', () => {
  const places = new Places({ window: 1, turnMs: 40 });
  expect([places.isRested(0), places.nextFreeAtMs]).toEqual([true, undefined]);
});

test('agreement: one and a half times as long, and a tick of the clock; of a slow one half as much after 5 s', () => {
  const agreement = new AgreementTime();
  agreement.end(agreement.begin(0), 0);
  expect(agreement.withinMs(0)).toBe(1.5);
  agreement.end(agreement.begin(0), 100);
  agreement.end(agreement.begin(50), 100);
  expect(agreement.withinMs(100)).toBe(1.5 * (100 + 1));
  agreement.end(agreement.begin(5_100), 5_100);
  expect(agreement.withinMs(5_100)).toBe(1.5 * (50 + 1));
  agreement.end(agreement.begin(10_100), 10_100);
  expect(agreement.withinMs(10_100)).toBe(1.5 * (25 + 1));
});
