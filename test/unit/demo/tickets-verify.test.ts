import { expect, test } from 'vitest';
import { verifySales, type Verdict } from '../../../demo/tickets/verify/verify-sales.ts';
import { percentilesOf } from '../../../demo/tickets/verify/percentiles.ts';
import { CLEAN_SALE } from '../../support/clean-sale.ts';

interface Customer {
  readonly answer?: 'yes' | 'no';
  readonly early?: boolean;
  /** Undefined: the purchase has no end. */
  readonly final?: string | null;
  readonly ticketsLeft?: number;
  readonly answeredMs?: number;
}

/** The lines of a sale of `#1` to `#tickets`. */
function history(tickets: number, customers: readonly Customer[]): object[] {
  const stock = Array.from({ length: tickets }, (_, n) => ({
    kind: 'stocked',
    item: `#${n + 1}`,
    atMs: 0,
  }));
  const lines = customers.flatMap(
    ({ answer: reported = 'yes', early = false, final, ticketsLeft = 1, answeredMs = 1 }, n) => {
      const common = { customer: `c${n}`, operation: `concert/c${n}` };
      return [
        { ...common, kind: 'begun', atMs: 10 },
        { ...common, kind: 'preliminary', level: 'weak', item: '#?', ticketsLeft, atMs: 11 },
        {
          ...common,
          kind: 'answered',
          level: early ? 'weak' : 'strong',
          item: '#?',
          answer: reported,
          early,
          atMs: 10 + answeredMs,
        },
        ...(final === undefined
          ? []
          : [{ ...common, kind: 'final', level: 'strong', item: final, atMs: 50 }]),
      ];
    },
  );
  return [...stock, ...lines];
}

function faultsOf(lines: readonly object[]): Partial<Verdict> {
  const verdict = verifySales(lines);
  return Object.fromEntries(
    Object.keys(CLEAN_SALE).map((fault) => [fault, verdict[fault as keyof Verdict]]),
  );
}

function faults(tickets: number, customers: readonly Customer[]): Partial<Verdict> {
  return faultsOf(history(tickets, customers));
}

const last: Customer = { answer: 'no', final: null };

test('judge: a clean sale → confirmed and early counted, no faults', () => {
  const sale = [{ early: true, final: '#1' }, { final: '#2' }, last] as const;
  expect(verifySales(history(2, sale))).toMatchObject({
    tickets: 2,
    confirmed: 2,
    confirmedEarly: 1,
  });
  expect(faults(2, sale)).toEqual(CLEAN_SALE);
});

test('judge: an early yes, and an empty final view → revoked, and nothing oversold', () => {
  expect(
    faults(1, [
      { early: true, final: '#1' },
      { early: true, final: null },
    ]),
  ).toEqual({ ...CLEAN_SALE, revoked: 1, promisedBeyondStock: 1 });
});

test('judge: more tickets handed out than were on sale → oversold', () => {
  const sale = [{ final: '#1' }, { final: '#2' }, { final: '#9' }];
  expect(faults(2, sale)).toEqual({
    ...CLEAN_SALE,
    promisedBeyondStock: 1,
    oversold: 1,
    unknown: 1,
  });
});

test('judge: one ticket handed out to two → a duplicate, and the ticket that no customer got is lost', () => {
  expect(faults(2, [{ final: '#1' }, { final: '#1' }, last])).toEqual({
    ...CLEAN_SALE,
    duplicates: 1,
    lost: 1,
  });
});

test('judge: sold out with tickets that no customer got → lost, unless a purchase without an end may have them', () => {
  expect(faults(3, [{ final: '#1' }, last])).toEqual({ ...CLEAN_SALE, lost: 2 });
  expect(faults(3, [{ final: '#1' }, {}, last])).toEqual({
    ...CLEAN_SALE,
    lost: 1,
    leftHanging: 1,
    unanswered: 1,
  });
});

/** The steps of one customer. */
const steps = (operation: string, ...lines: object[]): object[] =>
  lines.map((line) => ({ operation, atMs: 1, ...line }));
const stock = (...items: unknown[]): object[] =>
  items.map((item) => ({ kind: 'stocked', item, atMs: 0 }));
const notified = (answer: string): object => ({ kind: 'answered', answer: answer, early: true });
const final = (item?: unknown): object => ({ kind: 'final', item });
const failed = (code: string): object => ({ kind: 'failed', code });
const soldOut = steps('last', final(null), notified('no'));

test.each<[what: string, lines: object[], found: Partial<Verdict>]>([
  ['yes, then refused', steps('a', notified('yes'), failed('UNAVAILABLE')), { revoked: 1 }],
  ['yes, then UNKNOWN', steps('a', notified('yes'), failed('UNKNOWN')), { unanswered: 1 }],
  ['no, and a ticket', steps('a', notified('no'), final('#1')), { contradicted: 1 }],
  ['a ticket without an answer', steps('a', final('#1')), { contradicted: 1 }],
  [
    'an end without a result',
    steps('a', notified('yes'), final()),
    { contradicted: 1, revoked: 1 },
  ],
  [
    'nothing, then a ticket',
    steps('a', notified('yes'), final(null), final('#1')),
    { contradicted: 1, revoked: 1, lost: 1 },
  ],
  ['two answers', steps('a', notified('no'), notified('yes'), final('#1')), { contradicted: 1 }],
])('judge: %s → a fault', (_, lines, found) => {
  expect(faultsOf([...stock('#1'), ...lines])).toEqual({ ...CLEAN_SALE, ...found });
});

test.each<[what: string, end: (n: number) => object | undefined, found: Partial<Verdict>]>([
  ['no end', () => undefined, { leftHanging: 30, unanswered: 30 }],
  ['UNKNOWN', () => failed('UNKNOWN'), { unanswered: 30 }],
  [
    'a ticket for the first 25',
    (n) => (n < 25 ? final(`#${n}`) : failed('UNKNOWN')),
    { unanswered: 5 },
  ],
])('judge: 30 early yes for 25 tickets, then %s → 5 promised beyond stock', (_, endOf, found) => {
  const sale = Array.from({ length: 30 }, (__, n) =>
    steps(`c${n}`, notified('yes'), ...[endOf(n) ?? []].flat()),
  ).flat();
  const tickets = Array.from({ length: 25 }, (__, n) => `#${n}`);
  expect(faultsOf([...stock(...tickets), ...sale])).toEqual({
    ...CLEAN_SALE,
    promisedBeyondStock: 5,
    ...found,
  });
});

test('judge: an early yes, and nothing afterwards → left hanging; without a yes only unanswered', () => {
  expect(faultsOf([...stock('#1'), ...steps('a', notified('yes'))])).toMatchObject({
    leftHanging: 1,
    unanswered: 1,
  });
  expect(faultsOf([...stock('#1'), ...steps('a', { kind: 'begun' })])).toMatchObject({
    leftHanging: 0,
    unanswered: 1,
  });
});

test('judge: a purchase that was refused took nothing → it does not excuse a ticket that is lost', () => {
  const lines = [...stock('#1'), ...steps('a', failed('OVERLOADED')), ...soldOut];
  expect(faultsOf(lines)).toEqual({ ...CLEAN_SALE, lost: 1 });
});

test('judge: a sale that was stopped → what is left is not lost', () => {
  expect(faults(3, [{ final: '#1' }])).toEqual(CLEAN_SALE);
});

test('judge: answered late though more tickets than the threshold were left → held back', () => {
  const sale = [
    { final: '#1', early: true, ticketsLeft: 30 },
    { final: '#2', ticketsLeft: 30 },
    { final: '#3', ticketsLeft: 20 },
  ];
  expect(verifySales(history(3, sale), { threshold: 20 }).heldBack).toBe(1);
});

test('judge: latencies from the lines, split at the threshold, the threshold itself below', () => {
  const sale = [
    { final: '#1', ticketsLeft: 21, answeredMs: 1 },
    { final: '#2', ticketsLeft: 20, answeredMs: 40 },
    { ...last, ticketsLeft: 0, answeredMs: 41 },
  ];
  const { latencyMs } = verifySales(history(2, sale), { threshold: 20 });
  expect(latencyMs.purchaseAbove).toEqual({ p50: 1, p95: 1, p99: 1 });
  expect(latencyMs.purchaseBelow).toEqual({ p50: 40, p95: 41, p99: 41 });
  expect(latencyMs.purchase).toEqual({ p50: 1, p95: 40, p99: 40 });
  expect(latencyMs.preliminary.p50).toBe(1);
  expect(latencyMs.final.p50).toBe(40);
});

test('percentiles: none → null, not a number', () => {
  expect(percentilesOf([])).toEqual({ p50: null, p95: null, p99: null });
});
