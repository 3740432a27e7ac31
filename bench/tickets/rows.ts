/** Summarizes the sales: a row for each setting, and the goals. */
import { verifySales, type Verdict } from '../../demo/tickets/verify/verify-sales.ts';
import {
  atLeast,
  limitTime,
  estimate,
  least,
  reported,
  type GoalResult,
  type Estimate,
} from '../harness/goals.ts';
import { median, rounded } from '../harness/statistics.ts';
import { assertFinished } from './assert-finished.ts';
import type { Placement, RoundSale, Setting } from './sales.ts';

/**
 * The goals. ZooKeeper's agreement takes longer, and retailers in one process know each other's
 * sales.
 */
export const AIMS = {
  redblue: { revokedAt20: 0, revokedAt0: 6, faults: 0, speedup: 4 },
  zookeeper: { revokedAt20: 0, revokedAt0: 2, faults: 0, speedup: 10 },
  postgres: { revokedAt20: 0, revokedAt0: null, faults: 0, speedup: 10 },
} as const;

export type Aims = (typeof AIMS)[keyof typeof AIMS];

/**
 * One setting over all its sales. Latencies are medians of the rounds; for faults, the worst sale
 * counts.
 */
export interface Row extends Readonly<Record<string, unknown>> {
  readonly placement: Placement;
  readonly tickets: number;
  readonly contender: string;
  readonly threshold: number | null;
  /** The recipe, if retailers are connected in another way or use another recipe. */
  readonly recipe: string | null;
  readonly sales: number;
  readonly soldMin: number;
  readonly confirmedEarlyMin: number;
  readonly confirmedEarlyMedian: number;
  /** The number of customers above the threshold who had to wait nevertheless. */
  readonly heldBackMedian: number;
  readonly revokedMax: number;
  readonly contradictedMax: number;
  readonly oversoldMax: number;
  /** Customers who got a yes that was never taken back, beyond the stock. */
  readonly standingBeyondStockMax: number;
  /** Customers who got a yes at any time, beyond the stock: some of them are revoked later. */
  readonly promisedBeyondStockMax: number;
  readonly duplicatesMax: number;
  readonly lostMax: number;
  /** Purchases begun above the threshold, or of all that got a ticket if there is no threshold. */
  readonly purchaseAboveP50Ms: number | null;
  readonly purchaseBelowP50Ms: number | null;
  readonly finalP50Ms: number | null;
  /** How many times longer the baseline of the same round took; null for the baseline itself. */
  readonly speedup: number | null;
  readonly speedupLow: number | null;
  readonly speedupHigh: number | null;
}

type Fault =
  | 'revoked'
  | 'contradicted'
  | 'oversold'
  | 'standingBeyondStock'
  | 'promisedBeyondStock'
  | 'duplicates'
  | 'lost';

/** One setting over all its sales: medians of the rounds, and the worst sale for each fault. */
export function rowOf(setting: Setting, sales: readonly RoundSale[]): Row {
  const { placement, stock, threshold } = setting;
  const mine = salesOf(sales, setting);
  const verdicts = mine.map((sale) => assertFinished(createVerdict(sale)));
  const worst = (fault: Fault): number => Math.max(...verdicts.map((verdict) => verdict[fault]));
  const medianOf = (value: (verdict: Verdict) => number | null): number | null => {
    const values = verdicts.map(value).filter((item) => item !== null);
    return values.length === 0 ? null : rounded(median(values));
  };
  const speedup = threshold === null ? null : estimate(mine.map((sale) => speedupOf(sale, sales)));
  return {
    placement,
    tickets: stock,
    contender: contenderOf(setting),
    threshold,
    recipe: setting.recipe ?? null,
    sales: mine.length,
    soldMin: Math.min(...verdicts.map(({ confirmed, revoked }) => confirmed - revoked)),
    confirmedEarlyMin: Math.min(...verdicts.map(({ confirmedEarly }) => confirmedEarly)),
    confirmedEarlyMedian: medianOf(({ confirmedEarly }) => confirmedEarly) ?? 0,
    heldBackMedian: threshold === null ? 0 : (medianOf(({ heldBack }) => heldBack) ?? 0),
    revokedMax: worst('revoked'),
    contradictedMax: worst('contradicted'),
    oversoldMax: worst('oversold'),
    standingBeyondStockMax: worst('standingBeyondStock'),
    promisedBeyondStockMax: worst('promisedBeyondStock'),
    duplicatesMax: worst('duplicates'),
    lostMax: worst('lost'),
    purchaseAboveP50Ms: medianOf((verdict) => aboveP50(verdict, threshold)),
    purchaseBelowP50Ms:
      threshold === null ? null : medianOf(({ latencyMs }) => latencyMs.purchaseBelow.p50),
    finalP50Ms: medianOf(({ latencyMs }) => latencyMs.final.p50),
    speedup: speedup?.value ?? null,
    speedupLow: speedup?.low ?? null,
    speedupHigh: speedup?.high ?? null,
  };
}

function contenderOf({ threshold, recipe }: Setting): string {
  if (threshold === null) return recipe ?? 'strong only';
  return recipe === undefined ? `threshold ${threshold}` : `threshold ${threshold}, ${recipe}`;
}

function createVerdict({ sale, threshold }: RoundSale): Verdict {
  return verifySales(sale.history, { threshold: threshold ?? 0 });
}

/**
 * The median wait of purchases begun above the threshold; of all that got a ticket if there is no
 * threshold.
 */
function aboveP50({ latencyMs }: Verdict, threshold: number | null): number | null {
  return (threshold === null ? latencyMs.purchase : latencyMs.purchaseAbove).p50;
}

/**
 * Returns how many times longer customers of the baseline waited than those above the threshold in
 * the same round.
 */
function speedupOf(item: RoundSale, sales: readonly RoundSale[]): number {
  const { placement, stock } = item;
  const baseline = salesOf(sales, { placement, stock, threshold: null }).find(
    ({ round }) => round === item.round,
  );
  const took = (sale: RoundSale): number => aboveP50(createVerdict(sale), sale.threshold) as number;
  return took(baseline as RoundSale) / took(item);
}

/** The sales of one setting, by round. */
function salesOf(sales: readonly RoundSale[], setting: Setting): readonly RoundSale[] {
  const isLike = (sale: Setting): boolean =>
    sale.placement === setting.placement &&
    sale.stock === setting.stock &&
    sale.threshold === setting.threshold &&
    sale.recipe === setting.recipe;
  return sales.filter(isLike);
}

function estimateOf({
  speedup: value,
  speedupLow: low,
  speedupHigh: high,
  sales,
}: Row): Estimate[] {
  return value === null || low === null || high === null
    ? []
    : [{ value, low, high, samples: sales }];
}

/** The goals, computed from the rows: each fault by its worst sale. */
export function computeGoalResults(rows: readonly Row[], aims: Aims = AIMS.redblue): GoalResult[] {
  const at = (placement: Placement, threshold: number, isOwn = true): readonly Row[] =>
    rows.filter(
      (row) =>
        row.placement === placement &&
        row.threshold === threshold &&
        (row.recipe === null) === isOwn,
    );
  const worst = (fault: `${Fault}Max`, among: readonly Row[]): number =>
    Math.max(...among.map((row) => row[fault]));
  const slowest = (among: readonly Row[]): Estimate => least(among.flatMap(estimateOf));
  const spread = at('spread', 20);
  const [fixed, shared, sharedSpread] = [
    at('spread, fixed', 20),
    at('paper', 20, false),
    at('spread', 20, false),
  ] as const;
  const atZero = aims.revokedAt0 === null ? {} : { aim: aims.revokedAt0 };
  const early = Math.min(...spread.map((row) => row.confirmedEarlyMedian / row.tickets));
  return [
    limitTime(
      'revoked-at-20',
      worst('revokedMax', at('paper', 20)),
      { aim: aims.revokedAt20 },
      'customers',
    ),
    limitTime('revoked-at-0', worst('revokedMax', at('paper', 0)), atZero, 'customers'),
    limitTime('revoked-spread', worst('revokedMax', spread), { floor: aims.faults }, 'customers'),
    limitTime('contradicted', worst('contradictedMax', rows), { floor: aims.faults }, 'customers'),
    limitTime('oversold', worst('oversoldMax', rows), { floor: aims.faults }, 'tickets'),
    limitTime(
      'standing-beyond-stock',
      worst('standingBeyondStockMax', rows),
      { floor: aims.faults },
      'customers',
    ),
    limitTime('sold-twice', worst('duplicatesMax', rows), { floor: aims.faults }, 'tickets'),
    limitTime('lost', worst('lostMax', rows), { floor: aims.faults }, 'tickets'),
    atLeast('purchase-speedup', slowest(at('paper', 20)), { aim: aims.speedup }),
    reported('purchase-speedup-spread', slowest(spread)),
    reported('early-spread', rounded(early), 'fraction'),
    // Customers who got a yes although all tickets were promised already. Revoked promises are
    // counted separately, because they can have other reasons.
    reported('promised-beyond-stock', worst('promisedBeyondStockMax', rows), 'customers'),
    ...(fixed.length === 0
      ? []
      : [reported('revoked-spread-fixed', worst('revokedMax', fixed), 'customers')]),
    // The older definition: retailers share a binding.
    ...(shared.length === 0
      ? []
      : [
          reported('revoked-at-20-shared', worst('revokedMax', shared), 'customers'),
          reported('purchase-speedup-shared', slowest(shared)),
        ]),
    ...(sharedSpread.length === 0
      ? []
      : [reported('revoked-spread-shared', worst('revokedMax', sharedSpread), 'customers')]),
  ];
}
