/** Summarizes the sales: a row for each placement and way to sell, and the goals. */
import { verifySales } from '../../demo/tickets/verify/verify-sales.ts';
import { atLeast, limitTime, estimate, reported, type GoalResult } from '../harness/goals.ts';
import { median, rounded } from '../harness/statistics.ts';
import { assertFinished } from '../tickets/assert-finished.ts';
import type { Placement, RoundSale } from './sales.ts';

/** The shortest round trip between two sites: Ireland to Frankfurt. */
const NEAREST_TRIP_MS = 20;
/** The number of last tickets, for which sites have to agree. */
const LAST_TICKETS = 20;

/** One placement and way to sell over all its sales; for faults, the worst sale counts. */
interface Row extends Readonly<Record<string, unknown>> {
  readonly placement: Placement;
  readonly stock: string;
  readonly sales: number;
  readonly soldMin: number;
  readonly revokedMax: number;
  readonly oversoldMax: number;
  readonly duplicatesMax: number;
  readonly lostMax: number;
  readonly finalP50Ms: number;
  readonly finalAboveP50Ms: number;
  readonly localFinals: number;
}

export function rowOf(placement: Placement, stock: string, sales: readonly RoundSale[]): Row {
  const mine = salesOf(sales, placement, stock);
  const verdicts = mine.map(({ sale }) => assertFinished(verifySales(sale.history)));
  const worst = (fault: 'revoked' | 'oversold' | 'duplicates' | 'lost'): number =>
    Math.max(...verdicts.map((verdict) => verdict[fault]));
  return {
    placement,
    stock,
    sales: mine.length,
    soldMin: Math.min(...verdicts.map(({ confirmed, revoked }) => confirmed - revoked)),
    revokedMax: worst('revoked'),
    oversoldMax: worst('oversold'),
    duplicatesMax: worst('duplicates'),
    lostMax: worst('lost'),
    finalP50Ms: rounded(median(mine.map((sale) => median(finalsOf(sale, 0))))),
    finalAboveP50Ms: rounded(median(mine.map(finalAbove))),
    localFinals: rounded(median(mine.map(localShare))),
  };
}

/** The goals: shares and ratios are computed by round, and each fault by its worst sale. */
export function computeGoalResults(
  rows: readonly Row[],
  sales: readonly RoundSale[],
): GoalResult[] {
  const shares = (placement: Placement): readonly number[] =>
    salesOf(sales, placement, 'rights').map(localShare);
  const all = rows.filter(({ stock }) => stock === 'rights');
  const worst = (fault: 'revokedMax' | 'oversoldMax' | 'duplicatesMax' | 'lostMax'): number =>
    Math.max(...all.map((row) => row[fault]));
  return [
    atLeast('local-finals', estimate(shares('one at each site')), { aim: 0.95 }, 'fraction'),
    reported('local-finals-frankfurt-twice', estimate(shares('frankfurt twice')), 'fraction'),
    reported('local-finals-skewed', estimate(shares('virginia alone')), 'fraction'),
    atLeast('final-speedup', estimate(speedups('one at each site', sales)), { aim: 10 }),
    limitTime('oversold', worst('oversoldMax'), { floor: 0 }, 'tickets'),
    limitTime('revoked', worst('revokedMax'), { floor: 0 }, 'customers'),
    limitTime('sold-twice', worst('duplicatesMax'), { floor: 0 }, 'tickets'),
    limitTime('lost', worst('lostMax'), { floor: 0 }, 'tickets'),
  ];
}

function salesOf(
  sales: readonly RoundSale[],
  placement: Placement,
  stock: string,
): readonly RoundSale[] {
  return sales.filter((sale) => sale.placement === placement && sale.stock === stock);
}

/**
 * Returns how long finals took for customers who got a ticket while more than `above` tickets were
 * left.
 */
function finalsOf({ sale }: RoundSale, above: number): number[] {
  return sale.purchases.flatMap(({ finalItem, finalMs, ticketsLeft = 0 }) =>
    typeof finalItem === 'string' && finalMs !== undefined && ticketsLeft > above ? [finalMs] : [],
  );
}

function finalAbove(sale: RoundSale): number {
  return median(finalsOf(sale, LAST_TICKETS));
}

/**
 * Returns the share of tickets whose finals arrived before an answer of another site could have
 * arrived.
 */
function localShare(sale: RoundSale): number {
  const finals = finalsOf(sale, -1);
  return finals.filter((ms) => ms < NEAREST_TRIP_MS).length / finals.length;
}

/**
 * Returns how many times longer finals took from the queue than by rights, round by round, without
 * the last tickets.
 */
function speedups(placement: Placement, sales: readonly RoundSale[]): readonly number[] {
  const queue = salesOf(sales, placement, 'queue').toSorted((a, b) => a.round - b.round);
  const rights = salesOf(sales, placement, 'rights').toSorted((a, b) => a.round - b.round);
  return rights.map((sale, index) => finalAbove(queue[index] as RoundSale) / finalAbove(sale));
}
