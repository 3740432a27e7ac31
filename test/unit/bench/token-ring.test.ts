/** The token of the paper, simulated: who waits for it, and how long (RedBlue, OSDI 2012, §8.2.1). */
import { expect, test } from 'vitest';
import { simulateTokenRing, type TokenRing } from '../../../bench/microbenchmark/token-ring.ts';
import type { Site } from '../../../demo/case-studies/sites.ts';

const ring = (more: Partial<TokenRing>): TokenRing => {
  return { sites: 2, serviceMs: 1, window: 1, places: ['ue'], thinkMs: 0, durationMs: 60_000, ...more };
};
const times = (place: Site, more: Partial<TokenRing>): number[] =>
  simulateTokenRing(ring({ places: [place], ...more }))
    .filter((each) => each.place === place)
    .map(({ ms }) => ms);
const tally = (values: readonly number[], holds: (ms: number) => boolean): number => values.filter(holds).length;

test('beside a site → at once in its turn, and once around it waits for the turn of the other and both ways', () => {
  const waits = times('ue', {});
  // A thousand in each turn of a second, which comes every 2085 ms.
  expect(tally(waits, (ms) => ms <= 1)).toBeGreaterThan(28 * 998);
  expect(waits.filter((ms) => ms > 1).every((ms) => Math.abs(ms - 1085) <= 1)).toBe(true);
});

test('from afar → four or five in a turn, as the paper says of Singapore, and then a wait for the token', () => {
  for (const sites of [2, 3, 4]) {
    const waits = times('sg', { sites });
    const long = tally(waits, (ms) => ms > 500);
    expect(waits.length / long).toBeGreaterThan(4);
    expect(waits.length / long).toBeLessThan(7);
    expect(Math.max(...waits)).toBeGreaterThan((sites - 1) * 1000);
    // Nearest is US west: no answer comes sooner.
    expect(Math.min(...waits)).toBeCloseTo(182);
  }
});

test('more under way than a turn has room for → no more than a site executes in its turns', () => {
  const waits = times('ue', { window: 5000 });
  expect(waits.length).toBeGreaterThan(28 * 999);
  expect(waits.length).toBeLessThan(30 * 1001);
});

test('places that share a site take from one turn', () => {
  const both = simulateTokenRing(ring({ places: ['ue', 'ie'], window: 5000, sites: 2 }));
  expect(both.length).toBeLessThan(30 * 1001);
  expect(new Set(both.map(({ place }) => place))).toEqual(new Set(['ue', 'ie']));
});
