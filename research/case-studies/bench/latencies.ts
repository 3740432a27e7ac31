/**
 * How long operations took users at each place, with so many sites up: what the latency figures of
 * RedBlue are of.
 */
import { SITES, type Site } from '../sites.ts';
import { groupBy } from '../../../bench/harness/group-by.ts';
import { mean, rounded, standardDeviation } from '../../../bench/harness/statistics.ts';

/** One operation, or click. */
export interface Taken {
  readonly sites: number;
  readonly place: Site;
  /** What it is compared by: a color, or a contender. */
  readonly series: string;
  readonly ms: number;
}

/** All of a kind. */
export interface LatencyRow extends Readonly<Record<string, unknown>>, Omit<Taken, 'ms'> {
  readonly count: number;
  readonly meanMs: number;
  readonly deviationMs: number;
}

/** A row for each number of sites, place and series, in this order. */
export function latencyRows(taken: readonly Taken[]): readonly LatencyRow[] {
  const rows = groupBy(taken, ({ sites, place, series }) => `${sites} ${place} ${series}`).map(
    (kind) => {
      const [{ sites, place, series }] = kind;
      const durations = kind.map(({ ms }) => ms);
      const figures = {
        meanMs: rounded(mean(durations)),
        deviationMs: rounded(standardDeviation(durations)),
      };
      return { sites, place, series, count: kind.length, ...figures };
    },
  );
  const numberOf = (place: Site): number => SITES.indexOf(place);
  return rows.toSorted(
    (a, b) =>
      a.sites - b.sites || numberOf(a.place) - numberOf(b.place) || (a.series < b.series ? -1 : 1),
  );
}
