/**
 * TPC-W's workloads: their percentages, and users who follow them without confirming what they have
 * not put in a cart.
 */
import { expect, test } from 'vitest';
import { drawnFrom } from '../../../../research/case-studies/case-study.ts';
import { follow, mixes } from '../../../../research/case-studies/tpcw/mixes.ts';
import { seeded } from '../../../../demo/shared/random.ts';

const NAMES = Object.keys(mixes) as (keyof typeof mixes)[];
const ORDERING = [
  'shoppingCart',
  'customerRegistration',
  'buyRequest',
  'buyConfirm',
  'orderInquiry',
  'orderDisplay',
  'adminRequest',
  'adminConfirm',
];

test.each([
  ['browsing', 5],
  ['shopping', 20],
  ['ordering', 50],
] as const)(
  '%s → fourteen requests that add up, of which %s %% belong to ordering',
  (name, percent) => {
    const weights = Object.entries(mixes[name]);
    const sum = (of: typeof weights): number => of.reduce((total, [, weight]) => total + weight, 0);
    expect(weights).toHaveLength(14);
    expect(sum(weights)).toBeCloseTo(100, 6);
    expect(sum(weights.filter(([request]) => ORDERING.includes(request)))).toBeCloseTo(percent, 6);
  },
);

test.each(NAMES)('%s followed by one user → each request has its share of the mix', (name) => {
  const next = follow(mixes[name], seeded(7));
  const counts = new Map<string, number>();
  const draws = 50_000;
  for (let n = 0; n < draws; n += 1) {
    const request = next();
    counts.set(request, (counts.get(request) ?? 0) + 1);
  }
  for (const [request, percent] of Object.entries(mixes[name])) {
    const found = ((counts.get(request) ?? 0) / draws) * 100;
    expect(Math.abs(found - percent), request).toBeLessThan(0.05 + percent * 0.05);
  }
});

test.each(NAMES)(
  '%s followed by many users for a moment → each request has its share of the mix',
  (name) => {
    const counts = new Map<string, number>();
    const [users, clicks] = [20_000, 3];
    for (let user = 0; user < users; user += 1) {
      const next = follow(mixes[name], seeded(user));
      for (let n = 0; n < clicks; n += 1) {
        const request = next();
        counts.set(request, (counts.get(request) ?? 0) + 1);
      }
    }
    for (const [request, percent] of Object.entries(mixes[name])) {
      const found = ((counts.get(request) ?? 0) / (users * clicks)) * 100;
      expect(Math.abs(found - percent), request).toBeLessThan(0.05 + percent * 0.07);
    }
  },
);

test('followed → the steps to a purchase come in their order, from any of them on', () => {
  const steps = ['shoppingCart', 'customerRegistration', 'buyRequest', 'buyConfirm'];
  const next = follow(mixes.ordering, seeded(3));
  let last = steps.indexOf(untilOneOf(steps, next));
  for (let n = 0; n < 10_000; n += 1) {
    const step = steps.indexOf(next());
    if (step === -1) continue;
    expect([0, last + 1]).toContain(step);
    last = step;
  }
});

test('drawn from weights → never what has none', () => {
  const random = seeded(1);
  const generated = new Set(
    Array.from({ length: 1000 }, () => drawnFrom({ never: 0, seldom: 0.1, often: 3 }, random)),
  );
  expect(generated).toEqual(new Set(['seldom', 'often']));
  expect(drawnFrom({ only: 1, never: 0 }, () => 0.999_999_999)).toBe('only');
});

function untilOneOf(names: readonly string[], next: () => string): string {
  for (;;) {
    const name = next();
    if (names.includes(name)) return name;
  }
}
