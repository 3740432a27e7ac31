/** What the sales amount to: a row a setting, and the goals. */
import { count, latencies, percentiles } from '../../demo/tickets/report.ts';
import { atLeast, atMost, type Bar } from '../harness/bench.ts';
import { median, rounded, spread } from '../harness/statistics.ts';
import type { RoundSale, Setting } from './sales.ts';

/** What is aimed at: ZooKeeper's agreement takes longer, and retailers of one process know of each other's sales. */
export const AIMS = {
  redblue: { revokedAt20: 0, revokedAt0: 6, oversold: 0, speedup: 4 },
  zookeeper: { revokedAt20: 0, revokedAt0: 2, oversold: 0, speedup: 10 },
} as const;

export type Aims = (typeof AIMS)[keyof typeof AIMS];

/** One setting over all its sales. Latencies are medians of the rounds; of the faults, the worst sale counts. */
export interface Row extends Readonly<Record<string, unknown>> {
  readonly tickets: number;
  readonly contender: string;
  readonly threshold: number | null;
  readonly sales: number;
  readonly soldMin: number;
  readonly confirmedEarlyMin: number;
  readonly revokedMax: number;
  readonly oversoldMax: number;
  readonly duplicatesMax: number;
  /** Purchases begun above the threshold, or all that got a ticket where there is none. */
  readonly purchaseAboveP50Ms: number | null;
  readonly purchaseBelowP50Ms: number | null;
  readonly finalP50Ms: number | null;
  /** How many times longer the baseline of the same round took; null for the baseline itself. */
  readonly speedup: number | null;
  readonly speedupMin: number | null;
  readonly speedupMax: number | null;
}

/** One setting over all its sales: medians of the rounds, and the worst sale of each fault. */
export function rowOf(setting: Setting, sales: readonly RoundSale[]): Row {
  const { stock, threshold, recipe = 'strong only' } = setting;
  const mine = salesOf(sales, setting);
  const worst = (fault: 'revoked' | 'oversold' | 'duplicates'): number =>
    Math.max(...mine.map(({ sale }) => count(sale.history, stock)[fault]));
  const ofRounds = (value: (sale: RoundSale) => number | null): number | null => {
    const values = mine.map(value).filter((each) => each !== null);
    return values.length === 0 ? null : rounded(median(values));
  };
  const speedup = threshold === null ? null : spread(mine.map((sale) => rounded(speedupOf(sale, sales))));
  return {
    tickets: stock,
    contender: threshold === null ? recipe : `threshold ${threshold}`,
    threshold,
    sales: mine.length,
    soldMin: Math.min(...mine.map(({ sale }) => soldIn(sale.history, stock))),
    confirmedEarlyMin: Math.min(...mine.map(({ sale }) => count(sale.history, stock).confirmedEarly)),
    revokedMax: worst('revoked'),
    oversoldMax: worst('oversold'),
    duplicatesMax: worst('duplicates'),
    purchaseAboveP50Ms: ofRounds((sale) => aboveP50(sale)),
    purchaseBelowP50Ms:
      threshold === null ? null : ofRounds(({ sale }) => latencies(sale, threshold).purchaseBelow.p50),
    finalP50Ms: ofRounds(({ sale }) => latencies(sale, 0).final.p50),
    speedup: speedup?.median ?? null,
    speedupMin: speedup?.min ?? null,
    speedupMax: speedup?.max ?? null,
  };
}

function soldIn(history: RoundSale['sale']['history'], stock: number): number {
  const { confirmed, revoked } = count(history, stock);
  return confirmed - revoked;
}

/** The median wait of purchases begun above the threshold; of all that got a ticket where there is none. */
function aboveP50({ sale, threshold }: RoundSale): number | null {
  if (threshold !== null) return latencies(sale, threshold).purchaseAbove.p50;
  const sold = sale.purchases.filter((purchase) => purchase.told === 'yes');
  return percentiles(sold, 'toldMs').p50;
}

/** How many times shorter customers above the threshold waited than those of the baseline in the same round. */
function speedupOf(one: RoundSale, sales: readonly RoundSale[]): number {
  const baseline = salesOf(sales, { stock: one.stock, threshold: null }).find(({ round }) => round === one.round);
  return (aboveP50(baseline as RoundSale) as number) / (aboveP50(one) as number);
}

/** The sales of one setting, by round. */
export function salesOf(sales: readonly RoundSale[], setting: Setting): readonly RoundSale[] {
  const isLike = (sale: Setting): boolean =>
    sale.stock === setting.stock && sale.threshold === setting.threshold && sale.recipe === setting.recipe;
  return sales.filter(isLike);
}

/** The goals, computed from the rows: each fault by its worst single sale. */
export function barsOf(rows: readonly Row[], aims: Aims = AIMS.redblue): Bar[] {
  const at = (threshold: number): readonly Row[] => rows.filter((row) => row.threshold === threshold);
  const worst = (fault: 'revokedMax' | 'oversoldMax', among: readonly Row[]): number =>
    Math.max(...among.map((row) => row[fault]));
  const speedup = rounded(Math.min(...at(20).map((row) => row.speedup ?? Infinity)));
  return [
    atMost('revoked-at-20', worst('revokedMax', at(20)), aims.revokedAt20, 'customers'),
    atMost('revoked-at-0', worst('revokedMax', at(0)), aims.revokedAt0, 'customers'),
    atMost('oversold', worst('oversoldMax', rows), aims.oversold, 'tickets'),
    atLeast('purchase-speedup', speedup, aims.speedup),
  ];
}
