/** The sentences about a sale, computed from its purchases. */
import { percentilesOf } from '../verify/percentiles.ts';
import type { Row, SaleRecord } from './sale-record.ts';
import { formatSite } from '../../shared/page/site-names.ts';

/** How many customers had an early answer, after how long, and how many answers were taken back. */
export function formatHeadline({
  rows,
  baseline,
  tickets,
}: Pick<SaleRecord, 'rows' | 'baseline' | 'tickets'>): string {
  const served = [...rows.values()].filter(({ answer }) => answer === 'yes');
  const early = served.filter((row) => row.early === true);
  if (served.length === 0)
    return tickets === 0 ? '' : `${tickets} tickets, sold from three sites at once.`;
  const takenBack = served.filter(({ finalItem }) => finalItem === null).length;
  if (early.length === 0)
    return `No customer of ${served.length} had an early answer; ${takenBack} taken back.`;
  const compared = [...baseline.values()].filter(({ answer }) => answer === 'yes');
  const late = median(
    compared.length > 0
      ? compared.map(({ answeredMs }) => answeredMs)
      : early.map((row) => row.finalMs),
  );
  const instead = late === undefined ? '' : ` instead of ${late}`;
  return `${early.length} of ${served.length} answered in ${median(early.map(({ answeredMs }) => answeredMs))} ms${instead}; ${takenBack} taken back.`;
}

function median(durations: readonly (number | undefined)[]): string | undefined {
  const { p50 } = percentilesOf(durations.filter((ms) => ms !== undefined));
  if (p50 === null) return undefined;
  return p50 < 9.95 ? String(Number(p50.toFixed(1))) : p50.toFixed(0);
}

export interface SellingSituation {
  readonly left: number;
  /** Tickets left in the sale without early answers, which ends after the other one. Default: 0 */
  readonly baselineLeft?: number;
  readonly lostSites: readonly string[];
  readonly rows: Iterable<Pick<Row, 'site' | 'answer' | 'failure'>>;
  /** Such as "sale 2 of 3", if there are several. */
  readonly which?: string | undefined;
}

/**
 * The state of a running sale: it sells, or it waits for customers whose site cannot be reached.
 */
export function formatSelling({
  left,
  baselineLeft = 0,
  lostSites,
  rows,
  which,
}: SellingSituation): string {
  const selling = which === undefined ? 'Selling' : `Selling: ${which}`;
  if (lostSites.length === 0) {
    return left > 0 || baselineLeft === 0
      ? selling
      : `Sold out; without early answers ${baselineLeft} are left`;
  }
  const waiting = [...rows].filter(
    ({ answer, failure }) => answer === undefined && failure === undefined,
  );
  const sites = lostSites
    .filter((name) => waiting.some(({ site }) => site === name))
    .map(formatSite);
  if (left > 0 || sites.length === 0)
    return `${selling}, without ${lostSites.map(formatSite).join(', ')}`;
  const count = waiting.filter(({ site }) => lostSites.includes(site)).length;
  const who = count === 1 ? '1 customer' : `${count} customers`;
  return `Sold out; ${who} in ${sites.join(' and ')} ${count === 1 ? 'waits' : 'wait'} for the connection`;
}
