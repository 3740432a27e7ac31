/** What a sale at the sites of a cluster amounted to, by its history. */
import { expect, test } from 'vitest';
import { describeSale, figuresOf, movesOf } from '../../../demo/cluster/figures.ts';

interface Purchase {
  readonly customer: string;
  readonly retailer: number;
  /** The sites at its beginning, its answer and its final view. */
  readonly sites: readonly [string, string, string];
  readonly item: string | null;
  readonly answer?: 'yes' | 'no';
}

const stock = (...items: string[]): object[] =>
  items.map((item) => ({ kind: 'stocked', item, atMs: 0 }));

function purchase({
  customer,
  retailer,
  sites,
  item,
  answer = item === null ? 'no' : 'yes',
}: Purchase): object[] {
  const operation = `concert/${customer}`;
  const [begun, answered, final] = sites;
  return [
    { operation, kind: 'begun', retailer, site: begun, atMs: 1 },
    { operation, kind: 'answered', answer, early: true, item, site: answered, atMs: 2 },
    { operation, kind: 'final', item, site: final, atMs: 3 },
  ];
}

test('every ticket sold once, one customer moved → all is well, and the moves are counted', () => {
  const history = [
    ...stock('#1', '#2'),
    ...purchase({
      customer: 'a',
      retailer: 0,
      sites: ['frankfurt', 'frankfurt', 'ireland'],
      item: '#1',
    }),
    ...purchase({
      customer: 'b',
      retailer: 0,
      sites: ['ireland', 'ireland', 'ireland'],
      item: '#2',
    }),
    ...purchase({
      customer: 'c',
      retailer: 1,
      sites: ['virginia', 'virginia', 'virginia'],
      item: null,
    }),
  ];
  const nothing = { customers: 0, confirmed: 0, revoked: 0, sold: 0, movedAway: 0, movedHere: 0 };
  expect(figuresOf(history, 0)).toMatchObject({
    ok: true,
    sold: 2,
    confirmed: 2,
    moves: 1,
    customersMoved: 1,
    perSite: {
      frankfurt: { ...nothing, customers: 1, movedAway: 1 },
      ireland: { ...nothing, customers: 1, confirmed: 2, sold: 2, movedHere: 1 },
      virginia: { ...nothing, customers: 1 },
    },
  });
  expect(movesOf(history)).toEqual([{ retailer: 0, from: 'frankfurt', to: 'ireland', atMs: 3 }]);
});

test('a yes that is revoked, and all tickets sold → well all the same, and counted at the site that gave the final view', () => {
  const history = [
    ...stock('#1'),
    ...purchase({
      customer: 'a',
      retailer: 0,
      sites: ['ireland', 'ireland', 'ireland'],
      item: '#1',
    }),
    ...purchase({
      customer: 'b',
      retailer: 1,
      sites: ['virginia', 'virginia', 'virginia'],
      item: null,
      answer: 'yes',
    }),
  ];
  const { ok, revoked, perSite } = figuresOf(history, 0);
  expect({ ok, revoked }).toEqual({ ok: true, revoked: 1 });
  expect(perSite['virginia']).toMatchObject({ confirmed: 1, revoked: 1, sold: 0 });
});

test('a sale through faults ends with a sentence: all sold once, or FAILED', () => {
  const faults = {
    killed: { site: 'frankfurt', backAfterMs: 1 },
    frozen: { site: 'virginia', backAfterMs: 1 },
  } as const;
  const customers = ['#1', '#2'].flatMap((item) =>
    purchase({ customer: item, retailer: 0, sites: ['ireland', 'ireland', 'ireland'], item }),
  );
  const figures = { ...figuresOf([...stock('#1', '#2'), ...customers], 0), ...faults };
  expect(describeSale(figures)).toBe(
    'All 2 tickets were sold once each, while frankfurt was killed and virginia frozen.',
  );
  expect(describeSale({ ...figures, ok: false })).toMatch(/^FAILED: /);
});
