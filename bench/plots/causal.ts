/**
 * Plots that compare the causal store with CC-LO: the cost of a put, and latency against throughput
 * by the queueing model.
 */
import type { Measured } from '../causal/goals.ts';
import { SYSTEMS, type SystemName } from '../causal/systems/closed-loop.ts';
import { fitIds, selectRows, type Row } from '../causal/rows.ts';
import { SIZES, SKEWS, VALUE_BYTES, WRITES, type FigureName } from '../causal/settings.ts';
import type { Report } from '../harness/results.ts';
import { intervalsFigure } from './intervals.ts';
import { linesFigure, type Point } from './lines.ts';
import { barOf, dotsOf } from './read.ts';
import { BLUE, ORANGE, short, VIOLET, type Drawn, type Figure } from './svg.ts';

const NAMES: Readonly<Record<SystemName, string>> = {
  contrarian: 'two rounds',
  'contrarian-one-round': 'one round',
  'cc-lo': 'CC-LO',
};
const COLORS = { 'two rounds': BLUE, 'one round': VIOLET, 'CC-LO': ORANGE };

const MODEL =
  'A queueing model, not a network: each of the 32 partitions of a site works on one message at a time, for the time that was measured for it here. A message takes 0.05 ms within a site and 35 ms to another. Clients have no pauses and take no time.';
const ONE_SEED = 'One run for each dot. Numbers at dots are clients of a site.';

interface Samples extends Measured {
  readonly load: readonly number[];
}

export function drawCausal(report: Report): Drawn {
  const samples = report.samples as Samples;
  const { rows } = samples;
  const draw = (
    figure: FigureName,
    values: readonly number[],
    field: keyof Row,
    title: string,
  ): Figure => drawVaried(rows, { figure, values, field, title });
  const of = (name: string): string => short(barOf(report, name).value);
  const from = (name: string, ends: readonly (number | string)[]): string =>
    `${of(`${name}-${ends[0]}`)} and ${of(`${name}-${ends[1]}`)}`;
  return {
    'causal-put-cost': drawPutCost(report),
    'causal-ids': drawIds(rows),
    'causal-rot-default': drawDefault(report, samples),
    'causal-rot-tail': drawTail(report, rows),
    'causal-rot-writes': draw(
      'writes',
      WRITES,
      'writes',
      `By a model: with 1 and 10 % of writes, the peak is ${of('peak-vs-cc-lo-writes-1-percent')} and ${of('peak-vs-cc-lo-writes-10-percent')} times that of CC-LO`,
    ),
    'causal-rot-skew': draw(
      'skew',
      SKEWS,
      'skew',
      `By a model: from uniform keys to skewed ones, our peak changes by a factor of ${of('peak-skewed-vs-uniform')}, and that of CC-LO by ${of('peak-skewed-vs-uniform-cc-lo')}`,
    ),
    'causal-rot-size': draw(
      'size',
      SIZES,
      'partitionsPerRead',
      `By a model: if a read has 8 and 24 partitions, the peak is ${from('peak-vs-cc-lo', ['8-partitions', '24-partitions'])} times that of CC-LO`,
    ),
    'causal-rot-values': draw(
      'values',
      VALUE_BYTES,
      'valueBytes',
      `By a model: with values of 128 and 2,048 bytes, the peak is ${from('peak-vs-cc-lo', ['128-bytes', '2048-bytes'])} times that of CC-LO`,
    ),
  };
}

function drawPutCost(report: Report): Figure {
  const of = (name: string): string => barOf(report, name).value.toFixed(2);
  return intervalsFigure({
    title: `From 8 to 256 clients, a put costs ${of('put-cost-growth')} times as much, and one of CC-LO ${of('put-cost-growth-cc-lo')} times`,
    note: 'What all servers of a site work for one put with 256 clients, divided by 8 clients. The code of the partitions was timed in each run, on two shared processors. Dots are medians of the seeds, lines their 95 % intervals. The last row compares the time of a put at half of the peak of CC-LO, by the queueing model.',
    see: 'A put of CC-LO collects the reads that have missed something, from all partitions of which its client has read. With more clients there are more of them. Our put asks no other partition.',
    axis: 'ratio (log scale)',
    better: 'lower',
    scale: 'log',
    reference: { at: 1, label: 'no growth' },
    legend: { 'causal store': BLUE, 'CC-LO': ORANGE, 'causal store ÷ CC-LO': VIOLET },
    dots: [
      ...dotsOf(report, { 'put-cost-growth': 'processor time of a put' }),
      ...dotsOf(
        report,
        { 'put-cost-growth-cc-lo': 'processor time of a put, CC-LO' },
        { color: ORANGE },
      ),
      ...dotsOf(report, { 'put-bytes-growth': 'bytes of a put' }),
      ...dotsOf(report, { 'put-bytes-growth-cc-lo': 'bytes of a put, CC-LO' }, { color: ORANGE }),
      ...dotsOf(
        report,
        { 'put-latency-vs-cc-lo': 'latency of a put, compared' },
        { color: VIOLET },
      ),
    ],
  });
}

function drawIds(rows: readonly Row[]): Figure {
  const cclo = selectRows(rows, { system: 'cc-lo', figure: 'default', sites: 1 });
  const [all, distinct] = [fitIds(rows, 'ids'), fitIds(rows, 'distinctIds')];
  const last = cclo.at(-1);
  return linesFigure({
    title: `With ${last?.clients} clients, a put of CC-LO collects ${short(last?.ids ?? NaN)} ids of reads, ${short(last?.distinctIds ?? NaN)} of them distinct`,
    note: `Mean of the puts of a run, counted. A line fits all ids with R² = ${all.rSquared.toFixed(3)} and ${short(all.slope)} ids a client, distinct ones with R² = ${distinct.rSquared.toFixed(3)} and ${short(distinct.slope)}. The paper has 1,023 ids with 270 clients, 267 of them distinct, on 45 partitions. One site with 32 partitions, one run for each dot.`,
    see: 'The number of ids grows with the number of clients, as the paper proves that it must. A put of the causal store collects none.',
    colors: { 'all ids': ORANGE, 'distinct ids': VIOLET },
    x: { label: 'clients' },
    y: { label: 'ids that a put collects' },
    points: cclo.flatMap(({ clients, ids, distinctIds }): Point[] => [
      { series: 'all ids', x: clients, y: ids },
      { series: 'distinct ids', x: clients, y: distinctIds },
    ]),
  });
}

function drawDefault(report: Report, { rows, load }: Samples): Figure {
  const of = (name: string): string => short(barOf(report, name).value);
  const points = [1, 3].flatMap((sites) =>
    createPoints(
      rows,
      { figure: 'default', sites },
      { panel: sites === 1 ? '1 site' : '3 sites', y: 'readP95Ms' },
    ),
  );
  return linesFigure({
    title: `By a model: CC-LO reads faster with few clients; two rounds do up to ${of('peak-vs-cc-lo')} times its operations a second at one site, ${of('peak-vs-cc-lo-three-sites')} at three`,
    note: `${MODEL} The paper measured 3.7 and 5 times, on 45 servers a site. ${ONE_SEED} While it ran, the two processors had a load of ${short(load.at(-1) ?? NaN)}.`,
    see: `With one client, a read of two rounds takes ${of('rot-latency-vs-cc-lo')} times as long as one of CC-LO, in the paper 1.72 times. A read of one round takes as long as one of CC-LO, and the store then does up to ${of('peak-one-round-vs-cc-lo')} times the operations of CC-LO.`,
    colors: COLORS,
    x: { label: 'operations a second (thousands)' },
    y: { label: 'ms of a read, 95th percentile (log scale)', type: 'log' },
    points,
  });
}

function drawTail(report: Report, rows: readonly Row[]): Figure {
  const of = (name: string): string => short(100 * barOf(report, name).value);
  const where = { figure: 'default', sites: 1 } as const;
  return linesFigure({
    title: `By a model: two rounds read faster than CC-LO from ${of('crossing-p99')} % of their peak at the 99th percentile, in the mean from ${of('crossing-mean')} %`,
    note: `${MODEL} One site. ${ONE_SEED} In the paper the mean crosses at 25 % of the peak, and the 99th percentile at 9 %.`,
    see: 'Few reads meet a put that collects ids, so the mean shows less of it than the slowest reads do.',
    colors: COLORS,
    x: { label: 'operations a second (thousands)' },
    y: { label: 'ms of a read (log scale)', type: 'log' },
    points: [
      ...createPoints(rows, where, { panel: 'mean', y: 'readMeanMs' }),
      ...createPoints(rows, where, { panel: '99th percentile', y: 'readP99Ms' }),
    ],
  });
}

interface Variation {
  readonly figure: FigureName;
  readonly values: readonly number[];
  readonly field: keyof Row;
  readonly title: string;
}

const PANELS: Readonly<Record<FigureName, (value: number) => string>> = {
  default: String,
  writes: (value) => `w = ${value}`,
  skew: (value) => `z = ${value}`,
  size: (value) => `p = ${value}`,
  values: (value) => `b = ${value.toLocaleString('en')}`,
};

const SEE: Readonly<Record<FigureName, string>> = {
  default: '',
  writes:
    'The more puts, the more CC-LO has to check. Each check then brings fewer ids, since fewer keys were read before.',
  skew: 'If some keys are popular, more reads have seen an old version of them, and a put of CC-LO collects more ids.',
  size: 'The more partitions a read has, the less the first of two rounds costs in comparison.',
  values:
    'Values take as long in both systems, so that large ones would bring them closer. The order stays.',
};

function drawVaried(rows: readonly Row[], { figure, values, field, title }: Variation): Figure {
  const points = values.flatMap((value) => {
    const own = { figure, sites: 1, [field]: value };
    const where =
      selectRows(rows, { system: 'cc-lo', ...own }).length > 0
        ? own
        : { ...own, figure: 'default' as const };
    return createPoints(rows, where, { panel: PANELS[figure](value), y: 'readP95Ms' }).filter(
      ({ series }) => series !== NAMES['contrarian-one-round'],
    );
  });
  return linesFigure({
    title,
    note: `${MODEL} One site. ${ONE_SEED}`,
    see: SEE[figure],
    colors: COLORS,
    x: { label: 'operations a second (thousands)' },
    y: { label: 'ms of a read, 95th percentile (log scale)', type: 'log' },
    points,
  });
}

function createPoints(
  rows: readonly Row[],
  where: Partial<Row>,
  { panel, y }: { readonly panel: string; readonly y: 'readMeanMs' | 'readP95Ms' | 'readP99Ms' },
): Point[] {
  return SYSTEMS.flatMap((system) =>
    selectRows(rows, { system, ...where }).map((row) => ({
      series: NAMES[system],
      x: row.perSecond / 1_000,
      y: row[y],
      panel,
      label: row.clients,
    })),
  );
}
