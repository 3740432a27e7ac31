/** The benchmark's goals show what went wrong in a single sale, however many went well. */
import { expect, test } from 'vitest';
import { barsOf, rowOf } from '../../../bench/tickets/rows.ts';
import type { Placement, RoundSale } from '../../../bench/tickets/sales.ts';
import type { SaleEvent } from '../../../demo/tickets/serve-customer.ts';

const STOCK = 3;
const PAPER: Placement = 'paper';
const SPREAD = [
  ['spread', null],
  ['spread', 20],
] as const;

interface Told {
  readonly final: string | null;
  readonly toldMs: number;
}

/** A sale in which these customers were told yes, one with each number of tickets left. */
function sale(threshold: number | null, round: number, customers: readonly Told[], placement = PAPER): RoundSale {
  const stock = Array.from({ length: STOCK }, (_, n): SaleEvent => ({ kind: 'stocked', item: `#${n + 1}`, atMs: 0 }));
  const history = customers.flatMap(({ final, toldMs }, n): SaleEvent[] => {
    const common = { customer: `c${n}`, operation: `c${n}`, level: 'any', ticketsLeft: 100 - n };
    const early = threshold !== null;
    return [
      { ...common, kind: 'begun', retailer: 0, atMs: 0 },
      { ...common, kind: 'preliminary', item: '#?', atMs: toldMs },
      { ...common, kind: 'told', told: 'yes', early, item: '#?', atMs: toldMs },
      { ...common, kind: 'final', item: final, atMs: 20 },
    ];
  });
  return { placement, stock: STOCK, threshold, round, sale: { purchases: [], history: [...stock, ...history] } };
}

const sold = (toldMs: number): Told[] => ['#1', '#2', '#3'].map((final) => ({ final, toldMs }));

function bars(sales: readonly RoundSale[]): Record<string, unknown> {
  const settings = [...[null, 0, 20].map((threshold) => [PAPER, threshold] as const), ...SPREAD];
  const rows = settings.map(([placement, threshold]) => rowOf({ placement, stock: STOCK, threshold }, sales));
  return Object.fromEntries(barsOf(rows).map(({ name, value, verdict }) => [name, [value, verdict]]));
}

/** Rounds without faults: 20 ms without incremental views, 2 ms with them. */
const ROUNDS = [1, 2, 3, 4, 5, 6];
const clean = ROUNDS.flatMap((round) => [
  sale(null, round, sold(20)),
  sale(0, round, sold(2)),
  sale(20, round, sold(2)),
  sale(null, round, sold(20), 'spread'),
  sale(20, round, sold(5), 'spread'),
]);

/** A round more beside the clean ones: the baseline, at threshold 0, at threshold 20. */
function oneMoreRound(strong: readonly Told[], at0: readonly Told[], at20: readonly Told[]): RoundSale[] {
  return [...clean, sale(null, 7, strong), sale(0, 7, at0), sale(20, 7, at20)];
}

test('bars: clean sales → all met, the speed-up from the same round', () => {
  expect(bars(clean)).toEqual({
    'revoked-at-20': [0, 'met'],
    'revoked-at-0': [0, 'met'],
    'revoked-spread': [0, 'met'],
    contradicted: [0, 'met'],
    oversold: [0, 'met'],
    'standing-beyond-stock': [0, 'met'],
    'sold-twice': [0, 'met'],
    lost: [0, 'met'],
    'purchase-speedup': [10, 'met'],
    'purchase-speedup-spread': [4, null],
    'early-spread': [1, null],
    'promised-beyond-stock': [0, null],
  });
});

test('bars: one sale at threshold 20 revokes one customer → missed; at threshold 0 within the aim', () => {
  const revoked = [...sold(2), { final: null, toldMs: 2 }];
  const found = bars(oneMoreRound(sold(20), revoked, revoked));
  expect(found).toMatchObject({ 'revoked-at-20': [1, 'missed'], 'revoked-at-0': [1, 'met'], oversold: [0, 'met'] });
});

test('bars: one customer revoked while the retailers are spread → missed', () => {
  const revoked = [...sold(2), { final: null, toldMs: 2 }];
  const sales = [...clean, sale(null, 7, sold(20), 'spread'), sale(20, 7, revoked, 'spread')];
  expect(bars(sales)).toMatchObject({ 'revoked-spread': [1, 'missed'], 'revoked-at-20': [0, 'met'] });
});

test('bars: a baseline that hands out more tickets than there are → oversold, missed', () => {
  const oversold = [...sold(20), { final: '#4', toldMs: 20 }];
  expect(bars(oneMoreRound(oversold, sold(2), sold(2)))).toMatchObject({ oversold: [1, 'missed'] });
});

test('bars: one ticket for two customers → sold twice, and another one lost', () => {
  const twice = [...sold(2).slice(0, 2), { final: '#2', toldMs: 2 }, { final: null, toldMs: 2 }];
  expect(bars(oneMoreRound(sold(20), sold(2), twice))).toMatchObject({
    'sold-twice': [1, 'missed'],
    lost: [1, 'missed'],
  });
});

test('bars: purchases as slow as the baseline → the speed-up is missed', () => {
  const slow = [
    ...clean.filter(({ threshold }) => threshold !== 20),
    ...ROUNDS.map((round) => sale(20, round, sold(20))),
  ];
  expect(bars([...slow, ...clean.filter(({ placement }) => placement === 'spread')])).toMatchObject({
    'purchase-speedup': [1, 'missed'],
  });
});

test('bars: told yes beyond the stock, then no → promised beyond it, revoked, and nothing oversold', () => {
  const tooMany = [...sold(2), { final: null, toldMs: 2 }, { final: null, toldMs: 2 }];
  expect(bars(oneMoreRound(sold(20), sold(2), tooMany))).toMatchObject({
    'promised-beyond-stock': [2, null],
    'revoked-at-20': [2, 'missed'],
    'standing-beyond-stock': [0, 'met'],
    oversold: [0, 'met'],
  });
});

test('bars: told yes beyond the stock and never told otherwise → standing, missed, though nobody was revoked', () => {
  const hanging = oneMoreRound(sold(20), sold(2), [...sold(2), { final: null, toldMs: 2 }]);
  const { sale: last, ...rest } = hanging.at(-1) as RoundSale;
  const history = last.history.filter((line) => !(line.kind === 'final' && line.item === null));
  expect(bars([...hanging.slice(0, -1), { ...rest, sale: { ...last, history } }])).toMatchObject({
    'standing-beyond-stock': [1, 'missed'],
    'promised-beyond-stock': [1, null],
    'revoked-at-20': [0, 'met'],
    oversold: [0, 'met'],
  });
});

test('bars: retailers who trust their threshold at three sites, and those who share a binding → reported apart', () => {
  const revoked = [...sold(2), { final: null, toldMs: 2 }];
  const trusting = { ...sale(20, 1, revoked), placement: 'spread, fixed' } as const;
  const sharing = { ...sale(20, 1, sold(1)), recipe: 'one binding a site' };
  const all = [...clean, trusting, { ...sale(null, 1, sold(20)), placement: 'spread, fixed' as const }, sharing];
  const settings = [
    ...[null, 0, 20].map((threshold) => ({ placement: PAPER, stock: STOCK, threshold })),
    { placement: PAPER, stock: STOCK, threshold: 20, recipe: 'one binding a site' },
    ...SPREAD.map(([placement, threshold]) => ({ placement, stock: STOCK, threshold })),
    { placement: 'spread, fixed' as const, stock: STOCK, threshold: 20 },
  ];
  const found = barsOf(settings.map((setting) => rowOf(setting, all)));
  expect(Object.fromEntries(found.map(({ name, value }) => [name, value]))).toMatchObject({
    'revoked-at-20': 0,
    'revoked-spread': 0,
    'revoked-spread-fixed': 1,
    'revoked-at-20-shared': 0,
    'purchase-speedup': 10,
    'purchase-speedup-shared': 20,
  });
});

test('rows: a sale that sold nothing, or not all → no figures', () => {
  const setting = { placement: PAPER, stock: STOCK, threshold: null };
  const ended = (customers: readonly Told[]) => () => rowOf(setting, [sale(null, 1, customers)]);
  expect(ended([])).toThrow('a sale ended with 3 of 3 tickets still to be sold');
  expect(ended(sold(20).slice(1))).toThrow('a sale ended with 1 of 3 tickets still to be sold');
});
