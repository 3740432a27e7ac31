/** What sales by rights are held to beside sales from a queue: each fault shows, and less is worse. */
import { expect, test } from 'vitest';
import { barsOf, rowOf } from '../../../bench/rights/rows.ts';
import { PLACEMENTS, type Placement, type RoundSale } from '../../../bench/rights/sales.ts';
import type { Bar } from '../../../bench/harness/bars.ts';

const PLACES = Object.keys(PLACEMENTS) as Placement[];
const STOCKS = ['queue', 'rights'] as const;
const TICKETS = 30;
const names = Array.from({ length: TICKETS }, (_, n) => `#${n}`);

interface Given {
  /** How long each final takes. */
  readonly ms?: number;
  /** What finals say, one a customer, told yes. */
  readonly finals?: readonly (string | null)[];
}

function sale(placement: Placement, stock: (typeof STOCKS)[number], round: number, given: Given = {}): RoundSale {
  const { ms = stock === 'queue' ? 100 : 2, finals = names } = given;
  const history = [
    ...names.map((item) => ({ kind: 'stocked', item, atMs: 0 })),
    ...finals.flatMap((item, n) => [
      { kind: 'begun', operation: n, atMs: 0 },
      { kind: 'told', operation: n, told: 'yes', early: false, atMs: ms },
      { kind: 'final', operation: n, item, atMs: ms },
    ]),
    { kind: 'begun', operation: 'last', atMs: 0 },
    { kind: 'told', operation: 'last', told: 'no', atMs: ms },
    { kind: 'final', operation: 'last', item: null, atMs: ms },
  ];
  const purchases = finals.map((finalItem, n) => ({ finalItem, finalMs: ms, ticketsLeft: TICKETS - n }));
  return { placement, stock, round, sale: { history, purchases } as unknown as RoundSale['sale'] };
}

/** Six rounds without faults, but for those that are given by placement, stock and round. */
function bar(name: string, given: (...of: [Placement, string, number]) => Given | undefined = () => undefined): Bar {
  const sales = [1, 2, 3, 4, 5, 6].flatMap((round) =>
    PLACES.flatMap((place) => STOCKS.map((stock) => sale(place, stock, round, given(place, stock, round)))),
  );
  const rows = PLACES.flatMap((place) => STOCKS.map((stock) => rowOf(place, stock, sales)));
  return barsOf(rows, sales).find((each) => each.name === name) as Bar;
}

const once =
  (finals: readonly (string | null)[]) =>
  (place: Placement, stock: string, round: number): Given | undefined =>
    place === 'vrg alone' && stock === 'rights' && round === 3 ? { finals } : undefined;

test('clean sales → all met', () => {
  for (const name of ['local-finals', 'final-speedup', 'oversold', 'revoked', 'sold-twice', 'lost'])
    expect(bar(name)).toMatchObject({ verdict: 'met' });
  expect(bar('local-finals').value).toBe(1);
  expect(bar('final-speedup').value).toBe(50);
});

test.each([
  ['a ticket that nobody put on sale', 'oversold', [...names, '#made up']],
  ['a customer told yes who gets none', 'revoked', [...names, null]],
  ['one ticket for two', 'sold-twice', ['#1', ...names.slice(1)]],
  ['a ticket left although all is said to be sold', 'lost', names.slice(1)],
])('%s, in one sale of one placement → %s is missed', (_what, name, finals) => {
  expect(bar(name, once(finals))).toMatchObject({ value: 1, verdict: 'missed' });
});

test('finals as slow as a trip → none is local, and nothing is gained', () => {
  const slow = (place: Placement, stock: string): Given | undefined =>
    place === 'one at each site' && stock === 'rights' ? { ms: 50 } : undefined;
  expect(bar('local-finals', slow)).toMatchObject({ value: 0, verdict: 'missed' });
  expect(bar('final-speedup', slow)).toMatchObject({ value: 2, verdict: 'missed' });
});

test('a sale that ends before all is sold → no figures: who sells less has no less to answer for', () => {
  const ended = sale('vrg alone', 'rights', 1, { finals: names.slice(0, 10) });
  const history = ended.sale.history.filter((line) => !('operation' in line && line.operation === 'last'));
  const sales = [{ ...ended, sale: { ...ended.sale, history } }];
  expect(() => rowOf('vrg alone', 'rights', sales)).toThrow('a sale ended with 20 of 30 tickets still to be sold');
});
