/** What TPC-W's and RUBiS's benchmarks hold to the paper: each bar misses where what it is named after is not so. */
import { describe, expect, test } from 'vitest';
import { barsOf, type NamedLoad, type Round, type ShopPlan } from '../../../bench/case-studies/shop-bench.ts';
import type { Loaded } from '../../../bench/case-studies/study-loads.ts';
import { Tally } from '../../../demo/case-studies/figures.ts';
import type { Interaction } from '../../../demo/case-studies/user.ts';

const PLAN: ShopPlan = {
  name: 'tpcw',
  about: '',
  exemplars: { blue: 'look', red: 'buy', mix: {}, redShare: 0.98 },
  blueShares: { shopping: 0.97 },
  scale: 1,
};
/** So many that a bar is decided. */
const ROUNDS = 6;

const click = (request: string, more: Partial<Interaction> = {}): Interaction => {
  return { site: 'ue', request, ms: 1, operations: 1, updates: 1, red: 0, failure: undefined, ...more };
};
const clicks = (count: number, of: Interaction): Interaction[] => Array.from({ length: count }, () => of);

function loaded(name: string, interactions: readonly Interaction[]): Loaded<NamedLoad> {
  const tally = new Tally();
  for (const each of interactions) tally.add(each);
  return { load: { name, mix: {}, users: 4, seconds: 1 }, interactions, figures: tally.figures(1) };
}

/** By name, of rounds of these clicks at each number of sites. */
function verdicts(bought: readonly Interaction[], worked: readonly Interaction[]): Record<string, unknown> {
  const round = (sites: number): Round => {
    return { sites, loads: [loaded('exemplars', bought), loaded('shopping', worked)] };
  };
  const rounds = Array.from({ length: ROUNDS }, () => [1, 2, 3, 4, 5].map(round)).flat();
  return Object.fromEntries(barsOf(PLAN, rounds).map(({ name, verdict }) => [name, verdict]));
}

const RED = click('buy', { red: 1 });
const BLUE = click('buy');
const AS_THE_PAPER = [...clicks(98, RED), ...clicks(2, BLUE)];
const WORKED = [...clicks(97, click('look')), ...clicks(3, RED)];

describe('bars of the bookstore and the auctions', () => {
  test('as in the paper → all met', () => {
    expect(verdicts(AS_THE_PAPER, WORKED)).toEqual({
      'five-sites-vs-one': null,
      failures: 'met',
      'red-share-buy': 'met',
      'blue-share-shopping': 'met',
    });
  });

  test('nothing is red any more → missed, though few clicks of the mix are red anyway', () => {
    expect(verdicts(clicks(100, BLUE), clicks(100, click('look')))).toMatchObject({
      'red-share-buy': 'missed',
      'blue-share-shopping': 'missed',
    });
    expect(verdicts(clicks(100, BLUE), WORKED)).toMatchObject({ 'red-share-buy': 'missed' });
  });

  test('too much is red → missed', () => {
    expect(verdicts(AS_THE_PAPER, [...WORKED, ...clicks(5, RED)])).toMatchObject({ 'blue-share-shopping': 'missed' });
  });

  test('one click failed → missed, and it makes nothing faster', () => {
    const failed = click('look', { failure: 'OVERLOADED' });
    expect(verdicts(AS_THE_PAPER, [...WORKED, failed])).toMatchObject({ failures: 'missed' });
    expect(loaded('shopping', [...WORKED, failed]).figures.interactionsPerSecond).toBe(WORKED.length);
  });
});
