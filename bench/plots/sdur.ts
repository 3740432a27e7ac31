/**
 * Plots of transactions over partitions: the protocol of the paper beside the product, in virtual
 * time, and the bytes that partitions take.
 */
import type { Report } from '../harness/results.ts';
import {
  CIRCUMSTANCES,
  createCell,
  GLOBALS,
  readFigure,
  type Cell,
  type Row,
} from '../sdur/cells.ts';
import { DELAYS_MS } from '../sdur/delay.ts';
import type { BytesRow } from '../sdur/metadata.ts';
import type { Distribution, MixSamples } from '../sdur/mix.ts';
import { createProductCell, THRESHOLDS } from '../sdur/reorder.ts';
import { WANS } from '../sdur/systems/layouts.ts';
import type { SystemName } from '../sdur/systems/run-load.ts';
import {
  BASELINE,
  KINDS,
  PRODUCT as PRODUCT_VARIANT,
  readP99,
  REORDERING,
  type SocialRow,
  type Variant,
} from '../sdur/social.ts';
import { POST } from '../sdur/systems/workloads.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { linesFigure, type Point } from './lines.ts';
import { barOf, rowsOf } from './read.ts';
import { BLUE, GREEN, GREY, ORANGE, short, VIOLET, type Drawn, type Figure } from './svg.ts';

const WITH_GLOBALS = GLOBALS.filter((globals) => globals > 0);
/** The colors of shares of globals. */
const SHARE_COLORS = { '1 % globals': BLUE, '10 % globals': VIOLET, '50 % globals': ORANGE };
const PRODUCT = 'product, 10 % globals';

type FigureName = Parameters<typeof readFigure>[2];

/** Creates functions that format a ratio as a change in percent. */
function createPercentages(
  report: Report,
): Readonly<Record<'raisesBy' | 'lowersBy', (name: string) => string>> {
  const change = (name: string): number => 100 * (barOf(report, name).value - 1);
  return { raisesBy: (name) => short(change(name)), lowersBy: (name) => short(-change(name)) };
}

export function drawMix(report: Report): Drawn {
  const { rows, distributions } = report.samples as MixSamples;
  return {
    'sdur-mix': drawShares(rows),
    'sdur-mix-cdf': drawDistributions(rows, distributions),
  };
}

function drawShares(rows: readonly Row[]): Figure {
  const lines: readonly (readonly [series: string, system: SystemName, figure: FigureName])[] = [
    ['paper, p99', 'machine', 'localP99Ms'],
    ['paper, mean', 'machine', 'localMeanMs'],
    ['product, p99', 'product', 'localP99Ms'],
    ['product, mean', 'product', 'localMeanMs'],
  ];
  const of = (system: SystemName, globals: number): string =>
    short(readFigure(rows, createCell({ wan: 'WAN 1', system, globals }), 'localP99Ms'));
  return linesFigure({
    title: `In WAN 1, 1 % of globals changes the 99th percentile of locals from ${of('machine', 0)} to ${of('machine', 1)} ms in the paper’s protocol, and from ${of('product', 0)} to ${of('product', 1)} ms in the product`,
    note: `Latency of transactions with two rows of one partition. ${CIRCUMSTANCES} The paper measured 32.6 ms without globals and 321 ms with 1 %.`,
    see: 'In the protocol of the paper, a local waits behind each pending global. In the product it waits only for a global that has one of its rows. In WAN 2 all transactions wait for another region.',
    colors: {
      'paper, p99': ORANGE,
      'paper, mean': GREY,
      'product, p99': BLUE,
      'product, mean': GREEN,
    },
    x: { label: '% of transactions with rows in both partitions', type: 'point' },
    y: { label: 'ms of a local (log scale)', type: 'log' },
    points: WANS.flatMap((wan) =>
      lines.flatMap(([series, system, figure]) =>
        GLOBALS.map((globals): Point => {
          const y = readFigure(rows, createCell({ wan, system, globals }), figure);
          return { series, panel: wan, x: globals, y };
        }),
      ),
    ),
  });
}

/** The percentages of transactions for which a point is drawn. */
const DRAWN = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99];

function drawDistributions(rows: readonly Row[], distributions: readonly Distribution[]): Figure {
  const medianOf = (system: SystemName): string =>
    short(readFigure(rows, createCell({ wan: 'WAN 1', system, globals: 10 }), 'localP50Ms'));
  return linesFigure({
    title: `With 10 % of globals in WAN 1, half of the locals take ${medianOf('machine')} ms in the paper’s protocol, and ${medianOf('product')} ms in the product`,
    note: `Points are at each tenth of the transactions, and at 99 %. ${CIRCUMSTANCES}`,
    see: 'In the protocol of the paper, the distribution of locals follows that of globals. In the product it is that of locals without globals. A global of the product takes two confirmations, one after the other, so that it takes longer in WAN 2.',
    colors: {
      'locals, no globals': GREEN,
      'locals, 10 % globals': BLUE,
      'globals, 10 % globals': ORANGE,
    },
    x: { label: 'ms' },
    y: { label: 'share of transactions' },
    points: distributions.flatMap(({ wan, system, series, ms }) =>
      DRAWN.map((percentage): Point => {
        const panel = `${wan}, ${system === 'machine' ? 'paper' : 'product'}`;
        return { series, panel, x: ms[percentage] as number, y: percentage / 100 };
      }),
    ),
  });
}

export function drawReorder(report: Report): Drawn {
  const rows = rowsOf<Row>(report);
  const kinds = [
    ['locals', 'localP99Ms'],
    ['globals', 'globalP99Ms'],
  ] as const;
  const { raisesBy, lowersBy } = createPercentages(report);
  const figure = linesFigure({
    title: `With 1 % of globals, R = 320 lowers the 99th percentile of locals in WAN 1 by ${lowersBy('locals-p99-r-320-1-wan-1')} %, and raises that of globals in WAN 2 by ${raisesBy('globals-p99-r-320-1-wan-2')} %`,
    note: `Latency at the 99th percentile. The product has no threshold: its line is the same for each R. ${CIRCUMSTANCES} In WAN 1 the paper measured 321 ms with 1 % of globals, and 168 ms with R = 320.`,
    see: 'A local leaps a global for as many transactions as R. So it waits less in WAN 1. But a global with all votes waits until R transactions were delivered after it, which takes longer than its votes in WAN 2.',
    colors: { ...SHARE_COLORS, [PRODUCT]: GREEN },
    x: { label: 'R', type: 'point' },
    y: { label: 'ms, 99th percentile (log scale)', type: 'log' },
    points: WANS.flatMap((wan) =>
      kinds.flatMap(([kind, name]) => {
        const pointOf = (series: string, cell: Cell, x: number): Point => {
          return { series, panel: `${wan}, ${kind}`, x, y: readFigure(rows, cell, name) };
        };
        return [
          ...WITH_GLOBALS.flatMap((globals) =>
            THRESHOLDS.map((threshold) =>
              pointOf(
                `${globals} % globals`,
                createCell({ wan, system: 'machine', globals, threshold }),
                threshold,
              ),
            ),
          ),
          ...THRESHOLDS.map((threshold) => pointOf(PRODUCT, createProductCell(wan), threshold)),
        ];
      }),
    ),
  });
  return { 'sdur-reorder': figure };
}

export function drawDelay(report: Report): Drawn {
  const rows = rowsOf<Row>(report);
  const panels = [
    ['locals, p99', 'localP99Ms'],
    ['locals, mean', 'localMeanMs'],
    ['globals, p99', 'globalP99Ms'],
  ] as const;
  const { lowersBy } = createPercentages(report);
  const figure = linesFigure({
    title: `With 1 % of globals, Δ = 60 ms lowers the 99th percentile of locals by ${lowersBy('locals-p99-delay-60-1')} %`,
    note: `WAN 1, the protocol of the paper. ${CIRCUMSTANCES} The paper measured 321 ms without a delay and 232.2 ms with 20 ms, with 1 % of globals. It saw no significant change with 10 and 50 %.`,
    see: 'A global that is broadcast later in the partition of its client is pending there for less time. Its votes come at the same moment, so it takes no longer.',
    colors: SHARE_COLORS,
    x: { label: 'Δ in ms', type: 'point' },
    y: { label: 'ms' },
    points: panels.flatMap(([panel, name]) =>
      WITH_GLOBALS.flatMap((globals) =>
        DELAYS_MS.map((delayMs): Point => {
          const cell = createCell({ wan: 'WAN 1', system: 'machine', globals, delayMs });
          return {
            series: `${globals} % globals`,
            panel,
            x: delayMs,
            y: readFigure(rows, cell, name),
          };
        }),
      ),
    ),
  });
  return { 'sdur-delay': figure };
}

const SOCIAL = [
  { name: 'paper, R = 0', color: ORANGE, variant: BASELINE },
  { name: 'paper, R = 320', color: VIOLET, variant: REORDERING },
  { name: 'product', color: BLUE, variant: PRODUCT_VARIANT },
] as const;

export function drawSocial(report: Report): Drawn {
  const rows = rowsOf<SocialRow>(report);
  const [near] = WANS;
  const of = (variant: Variant): string => short(readP99(rows, near, POST, variant));
  const figure = intervalsFigure({
    title: `In WAN 1, 99 of 100 posts take at most ${of(BASELINE)} ms in the paper’s protocol, ${of(REORDERING)} ms with reordering, and ${of(PRODUCT_VARIANT)} ms in the product`,
    note: `The social network of the paper: 85 % timelines, 7.5 % posts, 7.5 % follows, half of them between the two regions. Latency at the 99th percentile. ${CIRCUMSTANCES} Reads are no work, and timelines of the machine are not certified. The paper measured 70 % less for posts with reordering in WAN 1. Equal dots lie on one another.`,
    see: 'A post and a local follow have rows of one region. In WAN 1 they wait for the other region only behind a follow between the regions, and in the product not even there. In WAN 2 each of them waits for another region, and a global follow of the product waits twice.',
    axis: 'ms, 99th percentile (log scale)',
    better: 'lower',
    scale: 'log',
    legend: Object.fromEntries(SOCIAL.map(({ name, color }) => [name, color])),
    dots: WANS.flatMap((wan) =>
      KINDS.flatMap((kind) =>
        SOCIAL.map(({ color, variant }): Dot => {
          const value = readP99(rows, wan, kind, variant);
          return { label: kind, group: wan, color, value, number: 'above' };
        }),
      ),
    ),
  });
  return { 'sdur-social': figure };
}

export function drawMetadata(report: Report): Drawn {
  const rows = rowsOf<BytesRow>(report);
  const { raisesBy } = createPercentages(report);
  const figure = linesFigure({
    title: `With 8 partitions, a red operation takes ${raisesBy('wire-bytes-8-vs-1')} % more bytes between sites than with one, and ${raisesBy('disk-bytes-8-vs-1')} % more on a disk`,
    note: 'Bytes of one operation on two rows of a partition, with three sites, one operation after the other. Counted in one process in virtual time, with the encoders that sites use. Clients use the partitions in turn.',
    see: 'Each partition is one more entry of every vector. An operation is in one log, however many partitions there are.',
    colors: { 'between sites': BLUE, 'on the disk of a site': VIOLET },
    x: { label: 'partitions', type: 'point' },
    y: { label: 'bytes' },
    points: rows.flatMap(({ partitions, wireBytes, diskBytes }): Point[] => [
      { series: 'between sites', x: partitions, y: wireBytes },
      { series: 'on the disk of a site', x: partitions, y: diskBytes },
    ]),
  });
  return { 'partition-metadata': figure };
}
