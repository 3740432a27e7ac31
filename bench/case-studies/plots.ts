/**
 * The plots of RedBlue's evaluation (OSDI 2012, §8): latency by sites, throughput against latency, and distributions.
 */
import * as Plot from '@observablehq/plot';
import { PLACES, SITES } from '../../demo/case-studies/sites.ts';
import { figure } from '../harness/figure.ts';
import type { LatencyRow, Taken } from './latencies.ts';

export const BLUE = '#1f6fc4';
export const RED = '#c0392b';
export const GREY = '#8a929b';
/** For lines of which none is blue or red by itself: a color each, the darkest last. */
export const LINES = ['#9aa3ad', '#d08c1d', '#2f9e77', '#7b5ea7', '#1b1f24'];

/** A color for each series, in the order of the legend. */
export type Colors = Readonly<Record<string, string>>;

const WIDTH = 900;
/** Room for the legend above the frame, and for the names of panels between both. */
const PANELS = { width: WIDTH, height: 400, marginLeft: 64, marginRight: 20, marginTop: 96 } as const;
const BESIDE = { labelAnchor: 'center', labelArrow: 'none' } as const;
const FRAME = { stroke: '#d8dce0' };
/** Dots and lines keep clear of the frame. */
const INSET = 8;
const LETTER_PX = 8;

const MEAN_MS = 'mean latency (ms, log scale)';
const LOG_MS = { type: 'log', grid: true, ticks: 5, tickFormat: String, inset: INSET } as const;

/** Names in their colors above the frame, or above the first panel. */
function legend(colors: Colors, place: object, dy: number): Plot.Markish[] {
  let dx = 0;
  return Object.entries(colors).map(([name, fill]) => {
    const mark = Plot.text([`● ${name}`], { ...place, frameAnchor: 'top-left', dx, dy, fill, fontWeight: 'bold' });
    dx += (name.length + 4) * LETTER_PX;
    return mark;
  });
}

/** Figures 8 (a, b) and 10: mean latencies, a panel a place, by the number of sites. */
export function bySitesFigure(title: string, rows: readonly LatencyRow[], colors: Colors): string {
  const places = SITES.map((site) => PLACES[site]);
  const points = rows.map((row) => ({ ...row, where: PLACES[row.place] }));
  const at = { fx: 'where', x: 'sites', y: 'meanMs', z: 'series' } as const;
  const colorOf = ({ series }: LatencyRow): string => colors[series] as string;
  return figure(title, {
    ...PANELS,
    x: { label: 'sites', type: 'point', grid: true },
    y: { ...LOG_MS, label: MEAN_MS },
    fx: { label: null, domain: places, padding: 0.1 },
    marks: [
      Plot.frame(FRAME),
      Plot.line(points, { ...at, stroke: colorOf, strokeWidth: 2 }),
      Plot.dot(points, { ...at, fill: colorOf, r: 3.5 }),
      ...legend(colors, { fx: () => places[0] }, -42),
    ],
  });
}

/** One load: what was done, and how long it took. */
export interface Point {
  readonly series: string;
  readonly perSecond: number;
  readonly ms: number;
}

/** Figures 9, 11 and 12: latency against throughput, a line a series, from the least load to the greatest. */
export function throughputFigure(
  title: string,
  {
    what: description,
    points,
    colors,
  }: { readonly what: string; readonly points: readonly Point[]; readonly colors: Colors },
): string {
  const at = { x: 'perSecond', y: 'ms', z: 'series' } as const;
  const colorOf = ({ series }: Point): string => colors[series] as string;
  return figure(title, {
    width: WIDTH,
    height: 400,
    marginLeft: 64,
    marginRight: 24,
    marginTop: 76,
    x: { label: `${description} a second`, grid: true, zero: true, insetRight: INSET, ...BESIDE },
    y: { ...LOG_MS, label: MEAN_MS },
    marks: [
      Plot.frame(FRAME),
      Plot.line(points, { ...at, stroke: colorOf, strokeWidth: 2 }),
      Plot.dot(points, { ...at, fill: colorOf, r: 3.5 }),
      ...legend(colors, {}, -16),
    ],
  });
}

/** Points of a line: more add nothing that could be seen. */
const STEPS = 200;

/** Figures 8 (c, d) and 13: which share took at most so long; a panel a key, a line a series. */
export function distributionFigure(
  title: string,
  { panels, colors }: { readonly panels: Readonly<Record<string, readonly Taken[]>>; readonly colors: Colors },
): string {
  const points = Object.entries(panels).flatMap(([panel, taken]) =>
    Object.keys(colors).flatMap((series) => {
      const sorted = taken
        .filter((item) => item.series === series)
        .map(({ ms }) => ms)
        .toSorted((a, b) => a - b);
      if (sorted.length === 0) return [];
      return Array.from({ length: STEPS + 1 }, (_, step) => {
        const share = step / STEPS;
        return { panel, series, share, ms: sorted[Math.round(share * (sorted.length - 1))] as number };
      });
    }),
  );
  const [first] = Object.keys(panels);
  return figure(title, {
    ...PANELS,
    x: { ...LOG_MS, ...BESIDE, label: 'milliseconds (log scale)' },
    y: { label: 'share of operations', grid: true, domain: [0, 1], inset: INSET },
    fx: { label: null, domain: Object.keys(panels), padding: 0.06 },
    marks: [
      Plot.frame(FRAME),
      Plot.line(points, {
        fx: 'panel',
        x: 'ms',
        y: 'share',
        z: 'series',
        stroke: ({ series }: { series: string }) => colors[series] as string,
        strokeWidth: 2,
      }),
      ...legend(colors, { fx: () => first }, -42),
    ],
  });
}
