/**
 * Plots of RedBlue's evaluation (OSDI 2012, §8): latencies by place and number of sites, and
 * latency under load.
 */
import { PLACES, SITES } from '../../research/case-studies/sites.ts';
import type { LatencyRow } from '../../research/case-studies/bench/latencies.ts';
import type { Report } from '../harness/results.ts';
import { intervalsFigure } from './intervals.ts';
import { linesFigure, type Point } from './lines.ts';
import { rowsOf, samplesOf } from './read.ts';
import { describeLines, describeLoads, spreadOf, type Range } from './spread.ts';
import {
  BLUE,
  GREEN,
  GREY,
  ORANGE,
  RED,
  short,
  VIOLET,
  type Drawn,
  type Figure,
  type Texts,
} from './svg.ts';

interface Named {
  readonly name: string;
  readonly color: string;
}

/** A figure of the users at one place, with that many sites. */
interface PlaceFigure extends Pick<LatencyRow, 'sites' | 'place' | 'series'> {
  readonly ms: number;
  readonly range?: Range;
}

/** The interval of a mean is that many standard errors to each side, with 95 % confidence. */
const STANDARD_ERRORS = 1.96;

/** Returns the means. Their 95 % intervals follow from the deviation of the operations. */
function meansOf(rows: readonly LatencyRow[]): PlaceFigure[] {
  return rows.map(({ meanMs: ms, deviationMs, count, ...where }) => {
    const error = (STANDARD_ERRORS * deviationMs) / Math.sqrt(count);
    // The scale is logarithmic, so an interval cannot go down to zero.
    return { ...where, ms, range: { low: Math.max(ms - error, ms / 2), high: ms + error } };
  });
}

/** Returns the deviations of all operations, and the range of the rounds if there are rounds. */
function deviationsOf(rows: readonly LatencyRow[], rounds: readonly LatencyRow[]): PlaceFigure[] {
  return rows.map(({ sites, place, series, deviationMs: ms }) => {
    const isIts = (row: LatencyRow): boolean =>
      row.sites === sites && row.place === place && row.series === series;
    const all = rounds.filter(isIts).map(({ deviationMs }) => deviationMs);
    return { sites, place, series, ms, ...(all.length > 0 && { range: spreadOf(all) }) };
  });
}

interface ByPlace extends Texts {
  readonly label: string;
  readonly figures: readonly PlaceFigure[];
  readonly names: Readonly<Record<string, Named>>;
}

/** Draws a panel for each place. */
function byPlace({ label, figures, names, ...texts }: ByPlace): Figure {
  const shown = Object.values(names);
  return linesFigure({
    ...texts,
    colors: Object.fromEntries(shown.map(({ name, color }) => [name, color])),
    x: { label: 'sites', type: 'point' },
    y: { label, type: 'log' },
    points: SITES.flatMap((site) =>
      figures
        .filter(({ place, series }) => place === site && series in names)
        .map(({ sites, series, ms, range }) => ({
          panel: `users in ${PLACES[site]}`,
          series: names[series]?.name ?? series,
          x: sites,
          y: ms,
          ...(range !== undefined && { yRange: range }),
        })),
    ),
  });
}

/** Returns the figure of the last place, Singapore, with all sites. */
function farthest(
  rows: readonly LatencyRow[],
  series: string,
  figure: 'meanMs' | 'deviationMs' = 'meanMs',
): string {
  const row = rows.find(
    (item) => item.series === series && item.place === SITES.at(-1) && item.sites === SITES.length,
  );
  return short(row?.[figure] ?? NaN);
}

/** The label of the simulated token ring, which the paper's prototype has instead of a leader. */
const TOKEN_RING = 'Token ring, simulated: sites order red operations in turn, as in the paper.';
const ADDED = 'Sites are added in the order of the panels. Lower is better.';
const MEANS = `Mean latency by the number of sites; thin lines are 95 % intervals. ${ADDED}`;
const MEAN_MS = 'mean latency (ms, log scale)';

const SHOPS = {
  tpcw: { title: 'TPC-W', cart: 'shoppingCart', buy: 'buyConfirm' },
  rubis: { title: 'RUBiS', cart: 'storeBid', buy: 'storeBuyNow' },
} as const;

/** Draws the latencies of TPC-W and RUBiS beside each other. */
export function drawShops(tpcw: Report, rubis: Report): Drawn {
  const rows = [tpcw, rubis].flatMap((report) =>
    rowsOf<LatencyRow>(report).filter(({ place }) => place !== undefined),
  );
  const ms = (series: string): string => farthest(rows, series);
  const [cart, buy, bid, buyNow] = [
    SHOPS.tpcw.cart,
    SHOPS.tpcw.buy,
    SHOPS.rubis.cart,
    SHOPS.rubis.buy,
  ];
  const shops = byPlace({
    title: `With five sites, a user in Singapore waits ${ms(cart)} ms to fill a cart of TPC-W and ${ms(buy)} ms to buy. In RUBiS it is ${ms(bid)} ms to bid and ${ms(buyNow)} ms to buy now`,
    note: MEANS,
    see: 'A site near the users answers blue requests alone. Red requests still travel to the leader, and wait for a majority of the sites. So the more sites there are, the longer they take.',
    label: MEAN_MS,
    figures: meansOf(rows),
    names: {
      [cart]: { name: 'fill the cart (blue)', color: BLUE },
      [bid]: { name: 'bid (blue)', color: GREEN },
      [buy]: { name: 'buy (red)', color: RED },
      [buyNow]: { name: 'buy now (red)', color: ORANGE },
    },
  });
  return { 'shops-latency': shops };
}

export function drawLatency(report: Report): Drawn {
  const rows = rowsOf<LatencyRow>(report);
  const names = {
    blue: { name: 'blue', color: BLUE },
    red: { name: 'red', color: RED },
    'red beside blue': { name: 'red beside blue', color: VIOLET },
    'red, token ring (simulated)': { name: 'red, token ring', color: GREY },
  };
  const latency = byPlace({
    title: `With five sites a blue operation in Singapore takes ${farthest(rows, 'blue')} ms, a red one ${farthest(rows, 'red')} ms`,
    note: `${MEANS} ${TOKEN_RING}`,
    see: 'The nearest site does a blue operation alone. A red one travels to the leader. If users also send blue operations (red beside blue), a red one may wait for blue ones that it depends on.',
    label: MEAN_MS,
    figures: meansOf(rows),
    names,
  });
  const of = (series: string): string => farthest(rows, series, 'deviationMs');
  const deviation = byPlace({
    title: `With five sites, latency in Singapore deviates by ${of('blue')} ms if blue and ${of('red')} ms if red; in the paper's token ring, by ${of('red, token ring (simulated)')} ms`,
    note: `Standard deviation of the latency by the number of sites; thin lines are 95 % intervals of the rounds, and the simulation has one run. ${ADDED} ${TOKEN_RING}`,
    see: 'The delays between sites are constant here, so a latency that waits for no token hardly deviates. In the paper, red operations deviate more than blue ones, since most of them find the token near and a few wait for it.',
    label: 'standard deviation (ms, log scale)',
    figures: deviationsOf(rows, samplesOf<readonly LatencyRow[]>(report).flat()),
    names,
  });
  return { 'redblue-latency': latency, 'redblue-deviation': deviation };
}

interface LoadRow {
  readonly workload: string;
  readonly underWay: number;
  readonly opsPerSecond: number;
  readonly meanMs: number;
}

/** Draws what was measured from the rounds, and the simulation from the rows. */
export function drawThroughput(report: Report): Drawn {
  const rounds = samplesOf<readonly LoadRow[]>(report).flat();
  const points = rowsOf<LoadRow>(report).map(
    ({ workload, underWay, opsPerSecond, meanMs }): Point => {
      const own = rounds.filter(
        (round) => round.workload === workload && round.underWay === underWay,
      );
      const series = workload.replace(' (simulated)', '');
      const ranges = own.length > 0 && {
        xRange: spreadOf(own.map((round) => round.opsPerSecond)),
        yRange: spreadOf(own.map((round) => round.meanMs)),
      };
      return { series, x: opsPerSecond, y: meanMs, label: underWay, ...ranges };
    },
  );
  const of = (series: string): Point[] => points.filter((point) => point.series === series);
  const highest = (series: string): Point => of(series).toSorted((a, b) => b.x - a.x)[0] as Point;
  const [blue, red] = [highest('all blue'), highest('all red')];
  const rises = red === of('all red').at(-1) ? ', and still rise' : '';
  const throughput = linesFigure({
    title: `Two sites do ${short(blue.x)} operations a second at the peak if all are blue; if all are red, they do ${short(red.x)} with ${red.label} in flight${rises}`,
    note: `${describeLoads(
      'operations in flight',
      points.map(({ label = NaN }) => label),
    )} ${describeLines(report.rounds)} Further right and lower is better. Sites in US east and west. ${TOKEN_RING}`,
    see: 'Only red operations wait for the other site. With fewer of them, the sites do more operations a second, and each takes less time. Blue operations use the whole machine already with few in flight. Red ones mostly wait, so their curve ends before its peak, and a ratio of both is an upper bound.',
    colors: { 'all blue': BLUE, '30 % red': VIOLET, 'all red': RED, 'all red, token ring': GREY },
    x: { label: 'operations a second (log scale)', type: 'log' },
    y: { label: MEAN_MS, type: 'log' },
    points,
  });
  return { 'redblue-throughput': throughput };
}

const ALONE = { name: 'one site, in US east', sites: 1, color: GREY };
const ALL = { name: 'five sites, one at each place', sites: SITES.length, color: BLUE };

export function drawQuoddy(report: Report): Drawn {
  const rows = rowsOf<LatencyRow>(report);
  const rounds = samplesOf<readonly LatencyRow[]>(report).flat();
  const dots = SITES.flatMap((site) =>
    [ALL, ALONE].flatMap(({ sites, color }) => {
      const isShown = (row: LatencyRow): boolean => row.place === site && row.sites === sites;
      const means = rounds.filter(isShown).map(({ meanMs }) => meanMs);
      const row = rows.find(isShown);
      if (row === undefined) return [];
      const isCrowded = site !== SITES[0] && sites === ALL.sites;
      return [
        {
          label: `user in ${PLACES[site]}`,
          value: row.meanMs,
          low: Math.min(...means),
          high: Math.max(...means),
          color,
          ...(isCrowded && ({ number: 'above' } as const)),
        },
      ];
    }),
  );
  const of = (sites: number): number[] =>
    rows.filter((row) => row.sites === sites && row.place !== SITES[0]).map(({ meanMs }) => meanMs);
  const [near, far] = [of(ALL.sites), of(ALONE.sites)].map((means) =>
    [Math.min(...means), Math.max(...means)].map(short),
  );
  const quoddy = intervalsFigure({
    title: `Quoddy, a social network: users far from US east wait ${near?.join(' to ')} ms for a blue request with five sites, and ${far?.join(' to ')} ms with one`,
    note: 'Mean time to send a friend request, two users at each place: over all rounds, and the range of the rounds.',
    see: 'With one site, users wait for the trip to US east. With five sites, near and far users wait alike. They wait longer than beside a single site, since all five sites and ten busy users share one machine.',
    axis: 'milliseconds (log scale)',
    better: 'lower',
    scale: 'log',
    legend: { [ALL.name]: BLUE, [ALONE.name]: GREY },
    dots,
  });
  return { quoddy };
}
