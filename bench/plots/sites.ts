/** Plots of RedBlue's evaluation (OSDI 2012, §8): latencies by place and number of sites, and latency under load. */
import { PLACES, SITES } from '../../research/case-studies/sites.ts';
import type { LatencyRow } from '../../research/case-studies/bench/latencies.ts';
import type { Report } from '../harness/results.ts';
import { intervalsFigure } from './intervals.ts';
import { linesFigure, type Point } from './lines.ts';
import { barOf, rowsOf, samplesOf } from './read.ts';
import { BLUE, GREEN, GREY, ORANGE, RED, short, VIOLET, type Drawn, type Figure, type Texts } from './svg.ts';

interface LoadRow {
  readonly sites: number;
  readonly mix: string;
  readonly perSecond: number;
  readonly meanMs: number;
}

const LINES = [BLUE, ORANGE, GREEN];
const UNDER_LOAD = 'Each dot is a load: from dot to dot, there are more users. Further right and lower is better.';
const MEAN_MS = { label: 'mean latency (ms, log scale)', type: 'log' } as const;

interface Named {
  readonly name: string;
  readonly color: string;
}

/** Draws a panel for each place. */
function byPlace(texts: Texts, rows: readonly LatencyRow[], names: Readonly<Record<string, Named>>): Figure {
  const shown = Object.values(names);
  return linesFigure({
    ...texts,
    colors: Object.fromEntries(shown.map(({ name, color }) => [name, color])),
    x: { label: 'sites', type: 'point' },
    y: MEAN_MS,
    points: SITES.flatMap((site) =>
      rows
        .filter(({ place, series }) => place === site && series in names)
        .map(({ sites, series, meanMs }) => ({
          panel: `users in ${PLACES[site]}`,
          series: names[series]?.name ?? series,
          x: sites,
          y: meanMs,
        })),
    ),
  });
}

/** Returns the mean of the last place, Singapore, with all sites. */
function farthestMs(rows: readonly LatencyRow[], series: string): string {
  const row = rows.find((item) => item.series === series && item.place === SITES.at(-1) && item.sites === SITES.length);
  return short(row?.meanMs ?? NaN);
}

/** The label of the simulated token ring, which the paper's prototype has instead of a leader. */
const TOKEN_RING = 'Token ring, simulated: sites order red operations in turn, as in the paper.';
const NOTE = 'Mean latency by the number of sites. They are added in the order of the panels. Lower is better.';

/** The names of a shop's requests on its pages. */
const SHOPS = {
  tpcw: { title: 'TPC-W', blue: ['shoppingCart', 'fill the cart'], red: ['buyConfirm', 'buy'] },
  rubis: { title: 'RUBiS', blue: ['storeBid', 'bid'], red: ['storeBuyNow', 'buy now'] },
} as const;

export function drawShop(report: Report, name: string): Drawn {
  const { title, blue, red } = SHOPS[name as keyof typeof SHOPS];
  const latencies = rowsOf<LatencyRow>(report).filter(({ place }) => place !== undefined);
  const loads = rowsOf<LoadRow>(report).filter(({ mix }) => mix !== undefined);
  const mixes = [...new Set(loads.map(({ mix }) => mix))];
  const [blueMs, redMs] = [farthestMs(latencies, blue[0]), farthestMs(latencies, red[0])];
  const ofSites = (sites: number): string => (sites === 1 ? '1 site' : `${sites} sites`);
  const plot = (
    texts: Pick<Texts, 'title' | 'see'>,
    rows: readonly LoadRow[],
    partsOf: (row: LoadRow) => Pick<Point, 'series' | 'panel'>,
  ): Figure => {
    const series = [...new Set(rows.map((row) => partsOf(row).series))];
    return linesFigure({
      ...texts,
      note: `${UNDER_LOAD} All sites are on one machine.`,
      colors: Object.fromEntries(series.map((item, at) => [item, LINES[at % LINES.length] as string])),
      x: { label: 'clicks a second' },
      y: MEAN_MS,
      points: rows.map((row) => ({ ...partsOf(row), x: row.perSecond, y: row.meanMs })),
    });
  };
  const times = short(barOf(report, 'five-sites-vs-one').value);
  const peakOf = (mix: string): number =>
    Math.max(...loads.filter((row) => row.mix === mix && row.sites === 2).map(({ perSecond }) => perSecond));
  const peaks = mixes.map((mix) => ({ mix, peak: peakOf(mix) })).toSorted((a, b) => b.peak - a.peak);
  return {
    [`${name}-latency`]: byPlace(
      {
        title: `${title}: with five sites, a user in Singapore waits ${blueMs} ms to ${blue[1]}, and ${redMs} ms to ${red[1]}: sites must agree`,
        note: NOTE,
        see: 'A site near the users answers blue requests alone. Red requests still travel to the leader, and wait for a majority of the sites.',
      },
      latencies,
      { [blue[0]]: { name: `${blue[1]} (blue)`, color: BLUE }, [red[0]]: { name: `${red[1]} (red)`, color: RED } },
    ),
    [name]: plot(
      {
        title: `${title}: on one machine, five sites do ${times} times as many clicks a second as one`,
        see: 'All sites share two processors here, so more sites cannot do more. Each site keeps all data and also applies the writes of the others.',
      },
      loads.filter(({ mix }) => mix === mixes[0]),
      ({ sites, mix }) => ({ series: mix, panel: ofSites(sites) }),
    ),
    ...(mixes.length > 1 && {
      [`${name}-mixes`]: plot(
        {
          title: `${title} at two sites: ${short((peaks[0]?.peak ?? NaN) / (peaks.at(-1)?.peak ?? NaN))} times as many clicks a second in the ${peaks[0]?.mix} mix as in the ${peaks.at(-1)?.mix} mix`,
          see: 'The browsing mix opens mostly pages that list many books. The ordering mix opens mostly pages of one customer, which cost less.',
        },
        loads.filter(({ sites }) => sites === 2),
        ({ mix }) => ({ series: `${mix} mix` }),
      ),
    }),
  };
}

export function drawLatency(report: Report): Drawn {
  const rows = rowsOf<LatencyRow>(report);
  const [blueMs, redMs] = [farthestMs(rows, 'blue'), farthestMs(rows, 'red')];
  const latency = byPlace(
    {
      title: `With five sites a blue operation in Singapore takes ${blueMs} ms, a red one ${redMs} ms`,
      note: `${NOTE} ${TOKEN_RING}`,
      see: 'The nearest site does a blue operation alone. A red one travels to the leader. If users also send blue operations (red beside blue), a red one may wait for blue ones that it depends on.',
    },
    rows,
    {
      blue: { name: 'blue', color: BLUE },
      red: { name: 'red', color: RED },
      'red beside blue': { name: 'red beside blue', color: VIOLET },
      'red, token ring (simulated)': { name: 'red, token ring', color: GREY },
    },
  );
  return { 'redblue-latency': latency };
}

export function drawThroughput(report: Report): Drawn {
  const rows = rowsOf<{ readonly workload: string; readonly opsPerSecond: number; readonly meanMs: number }>(report);
  const times = short(barOf(report, 'all-blue-vs-all-red').value);
  const throughput = linesFigure({
    title: `Two sites do ${times} times as many operations a second if all are blue as if all are red`,
    note: `${UNDER_LOAD} Sites in US east and west. ${TOKEN_RING}`,
    see: 'Only red operations wait for the other site. With fewer of them, the sites do more operations a second, and each takes less time.',
    colors: { 'all blue': BLUE, '30 % red': VIOLET, 'all red': RED, 'all red, token ring': GREY },
    x: { label: 'operations a second' },
    y: MEAN_MS,
    points: rows.map(({ workload, opsPerSecond, meanMs }) => ({
      series: workload.replace(' (simulated)', ''),
      x: opsPerSecond,
      y: meanMs,
    })),
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
  const quoddy = intervalsFigure({
    title: `Quoddy, a social network: with five sites, a blue request takes ${farthestMs(rows, PLACES.sg)} ms in Singapore, and about as long elsewhere`,
    note: 'Mean time to send a friend request: over all rounds, and the range of the rounds.',
    see: 'With one site, users wait for the trip to US east. With five sites, all users wait equally long: longer than beside a single site, since the five share one machine.',
    axis: 'milliseconds (log scale)',
    better: 'lower',
    scale: 'log',
    legend: { [ALL.name]: BLUE, [ALONE.name]: GREY },
    dots,
  });
  return { quoddy };
}
