/** A figure is judged by where it surely is, and what has to hold decides the exit code. */
import { describe, expect, test } from 'vitest';
import {
  atLeast,
  limitTime,
  estimate,
  isBroken,
  isUndecided,
  largest,
  least,
  reported,
} from '../../../bench/harness/goals.ts';
import { seeded } from '../../../demo/shared/random.ts';

const around = (value: number, by = 0): number[] =>
  [-2, -1, 0, 0, 1, 2].map((step) => value + step * by);

describe('verdicts', () => {
  test.each([
    { is: 'within both goals', samples: around(1.4, 0.02), verdict: 'met' },
    { is: 'on both sides of the aim', samples: around(1.5, 0.02), verdict: 'held' },
    { is: 'between aim and floor', samples: around(1.57, 0.02), verdict: 'held' },
    { is: 'on both sides of the floor', samples: around(1.65, 0.02), verdict: 'undecided' },
    { is: 'over the floor', samples: around(1.8, 0.02), verdict: 'missed' },
    { is: 'over the floor in five rounds', samples: around(1.8).slice(1), verdict: 'undecided' },
  ])('at most: $is → $verdict', ({ samples, verdict }) => {
    expect(limitTime('bar', estimate(samples), { floor: 1.65, aim: 1.5 })).toMatchObject({
      verdict,
    });
    // The same in the other direction.
    const negative = estimate(samples.map((sample) => -sample));
    expect(atLeast('bar', negative, { floor: -1.65, aim: -1.5 })).toMatchObject({ verdict });
  });

  test.each([
    { is: 'within it', samples: around(1.4, 0.02), verdict: 'met' },
    { is: 'on both sides', samples: around(1.5, 0.02), verdict: 'undecided' },
    { is: 'beyond it', samples: around(1.6, 0.02), verdict: 'missed' },
  ])('one goal alone: $is → $verdict', ({ samples, verdict }) => {
    expect(limitTime('bar', estimate(samples), { aim: 1.5 }).verdict).toBe(verdict);
    expect(limitTime('bar', estimate(samples), { floor: 1.5 }).verdict).toBe(verdict);
  });

  test.each([
    { looks: 1, sure: 6 },
    { looks: 2, sure: 7 },
    { looks: 3, sure: 7 },
    { looks: 4, sure: 8 },
  ])(
    'looked at $looks times: of fewer than $sure samples no interval is sure, and they decide nothing',
    (item) => {
      const verdict = (count: number) => {
        const samples = Array.from({ length: count }, () => 1);
        // Each estimate keeps its number of looks, whichever of several is the worst.
        return [
          estimate(samples, item.looks),
          largest([estimate(around(0.5)), estimate(samples, item.looks)]),
        ].map((figure) => limitTime('bar', figure, { floor: 0.5, aim: 0.5 }).verdict);
      };
      expect(verdict(item.sure - 1)).toEqual(['undecided', 'undecided']);
      expect(verdict(item.sure)[0]).toBe('missed');
    },
  );

  test('counted → as sure as it is, on its goal too', () => {
    expect(limitTime('oversold', 0, { floor: 0 })).toMatchObject({
      low: 0,
      high: 0,
      samples: null,
      verdict: 'met',
    });
    expect(limitTime('oversold', 1, { floor: 0 })).toMatchObject({ value: 1, verdict: 'missed' });
    expect(reported('rate', 12)).toMatchObject({
      value: 12,
      floor: null,
      aim: null,
      verdict: null,
    });
  });

  test('nothing measured, or nothing that is a number → missed, and a floor is broken', () => {
    const nothing = [
      atLeast('slowest', least([]), { floor: 4 }),
      limitTime('worst sale', -Infinity, { floor: 0 }),
      atLeast('rate', estimate(around(NaN)), { floor: 1 }),
      atLeast('rate', estimate([...around(9), Infinity]), { floor: 1 }),
      limitTime('time', estimate([...around(0.5), NaN, 0.1]), { floor: 1 }),
    ];
    expect(nothing.map(({ verdict }) => verdict)).toEqual(Array(5).fill('missed'));
    expect(nothing.every(isBroken)).toBe(true);
  });

  test('a missed floor breaks, a missed aim does not; only what is undecided goes on', () => {
    const missed = [
      limitTime('a', 2, { floor: 1 }),
      limitTime('a', 2, { aim: 1 }),
      reported('a', 2),
    ];
    expect(missed.map(isBroken)).toEqual([true, false, false]);
    const unsure = limitTime('a', estimate(around(1, 0.1)), { floor: 1 });
    expect([unsure, ...missed].map(isUndecided)).toEqual([true, false, false, false]);
  });
});

test('estimate: half of what a true value on its goal gives is not called met', () => {
  const random = seeded(7);
  const verdicts = Array.from({ length: 1000 }, () => {
    const samples = Array.from({ length: 11 }, () => 1 + (random() - 0.5) / 10);
    return limitTime('bar', estimate(samples), { aim: 1 }).verdict;
  });
  expect(verdicts.filter((verdict) => verdict === 'met').length).toBeLessThan(40);
  expect(verdicts.filter((verdict) => verdict === 'missed').length).toBeLessThan(40);
});

test('estimate: looked at three times, of a true value on its goal → hardly ever decided', () => {
  const random = seeded(9);
  const decided = Array.from({ length: 1000 }, () => {
    const samples = Array.from({ length: 33 }, () => 1 + (random() - 0.5) / 10);
    return [11, 22, 33].some(
      (rounds) => !isUndecided(limitTime('bar', estimate(samples.slice(0, rounds), 3), { aim: 1 })),
    );
  }).filter(Boolean).length;
  expect(decided).toBeLessThan(50);
});

test('least, largest: as low, or as high, as any of the settings may be', () => {
  const [sure, unsure] = [estimate(around(1, 0.01)), estimate(around(1.2, 0.4))];
  expect(least([unsure, sure])).toMatchObject({
    value: 1,
    low: unsure.low,
    high: sure.high,
    samples: 6,
  });
  expect(largest([unsure, sure])).toMatchObject({ value: 1.2, low: sure.low, high: unsure.high });
  expect(atLeast('bar', least([sure, unsure]), { floor: 0.9 }).verdict).toBe('undecided');
});
