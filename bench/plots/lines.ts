/** Draws lines with their names at their ends, in one panel or in several. */
import * as Plot from '@observablehq/plot';
import type { Range } from './spread.ts';
import { BACK, BESIDE, figure, logAxis, logTicks, RULE, type Figure, type Texts } from './svg.ts';

/** A point of a line. */
export interface Point {
  readonly series: string;
  readonly x: number;
  readonly y: number;
  /** Its panel, if there are several. */
  readonly panel?: string;
  /** How far the rounds are apart, or where the true figure is. The texts of the plot say which. */
  readonly xRange?: Range;
  readonly yRange?: Range;
  /** A number beside the dot, such as the requests in flight. */
  readonly label?: number;
}

/** An axis: its label and its scale. */
interface Axis {
  readonly label: string;
  readonly type?: 'log' | 'point';
}

export interface Lines extends Texts {
  /** A color for each series. */
  readonly colors: Readonly<Record<string, string>>;
  readonly x: Axis;
  readonly y: Axis;
  readonly points: readonly Point[];
}

const WIDTH = 900;
const PLOT_PX = 300;
const INSET = 10;
const MARGIN_LEFT = 80;
const LETTER_PX = 6.9;
/** The height of a name in pixels. */
const NAME_PX = 16;

/**
 * Draws lines through the points in their order. Names are at the ends of the lines, or beside the
 * last panel. A single series has no name.
 */
export function linesFigure({ colors, x, y, points, ...texts }: Lines): Figure {
  const panels = [...new Set(points.flatMap(({ panel }) => panel ?? []))];
  const withFx = panels.length > 0 ? ({ fx: 'panel' } as const) : {};
  const place = { x: 'x', y: 'y', z: 'series', ...withFx } as const;
  const colorOf = ({ series }: Point): string => colors[series] as string;
  const across = points.filter(({ xRange }) => xRange !== undefined);
  const along = points.filter(({ yRange }) => yRange !== undefined);
  const domain = computeDomain(points, y.type === 'log');
  const whisker = { stroke: colorOf, strokeWidth: 1.5, strokeOpacity: 0.55 } as const;
  const isSingle = new Set(points.map(({ series }) => series)).size === 1;
  const names = isSingle
    ? []
    : ends(points, { last: panels.at(-1), span: domain, isLog: y.type === 'log' });
  const marginRight = 24 + Math.max(0, ...names.map(({ series }) => series.length)) * LETTER_PX;
  const panelPx = (WIDTH - MARGIN_LEFT - marginRight) / Math.max(1, panels.length);
  const xs = points.map((point) => point.x);
  const xSpan: Span = x.type === 'log' ? [Math.min(...xs), Math.max(...xs)] : [0, Math.max(...xs)];
  const labels = withoutOverlaps(points, {
    x: toPx({ span: xSpan, isLog: x.type === 'log', px: panelPx }),
    y: toPx({ span: domain, isLog: y.type === 'log', px: PLOT_PX }),
  });
  return figure(texts, {
    width: WIDTH,
    height: PLOT_PX + 44,
    marginTop: panels.length > 0 ? 28 : 8,
    marginLeft: MARGIN_LEFT,
    marginRight,
    x: { ...axisOf(x), ...(x.type === undefined && { zero: true, ticks: ticksOf(panels.length) }) },
    y: { ...axisOf(y), domain },
    ...(panels.length > 0 && { fx: { axis: 'top', label: null, domain: panels, padding: 0.1 } }),
    marks: [
      ...(x.type === 'log' ? logAxis('x', ticksOfLoads(points), x.label) : []),
      ...(y.type === 'log' ? logAxis('y', logTicks(...domain), y.label) : []),
      Plot.frame({ stroke: RULE }),
      Plot.ruleY(across, {
        ...withFx,
        y: 'y',
        x1: lowOf('xRange'),
        x2: highOf('xRange'),
        ...whisker,
      }),
      Plot.ruleX(along, {
        ...withFx,
        x: 'x',
        y1: lowOf('yRange'),
        y2: highOf('yRange'),
        ...whisker,
      }),
      Plot.line(points, { ...place, stroke: colorOf, strokeWidth: 2 }),
      Plot.dot(points, { ...place, fill: colorOf, r: 3.5, stroke: BACK }),
      Plot.text(labels, { ...place, text: 'label', fill: colorOf, ...LABEL_STYLE }),
      Plot.text(names, {
        ...(panels.length > 0 ? { fx: 'panel', frameAnchor: 'right' } : { x: 'x' }),
        y: 'nameAt',
        text: 'series',
        fill: colorOf,
        stroke: BACK,
        strokeWidth: 4,
        dx: 10,
        textAnchor: 'start',
        fontWeight: 'bold',
      }),
    ],
  });
}

const LABEL_STYLE = {
  stroke: BACK,
  strokeWidth: 3,
  fontSize: 10,
  dx: -5,
  dy: -8,
  textAnchor: 'end',
} as const;

/** Returns the span of the values with their ranges. A linear one begins at 0. */
function computeDomain(points: readonly Point[], isLog: boolean): Span {
  const values = points.flatMap(({ y: value, yRange }) => [
    value,
    yRange?.low ?? value,
    yRange?.high ?? value,
  ]);
  const most = Math.max(...values);
  return isLog ? [Math.min(...values) / 1.1, most * 1.1] : [0, most];
}

type RangeName = 'xRange' | 'yRange';

const lowOf =
  (range: RangeName) =>
  (point: Point): number =>
    point[range]?.low ?? NaN;
const highOf =
  (range: RangeName) =>
  (point: Point): number =>
    point[range]?.high ?? NaN;

/** Few enough ticks that their numbers do not overlap. */
const ticksOf = (panels: number): number => (panels > 3 ? 2 : panels > 0 ? 3 : 8);

const LOADS_MAX = 8;

/** Returns a tick for each position if there are few, as on an axis of loads. */
function ticksOfLoads(points: readonly Point[]): number[] {
  const xs = [...new Set(points.map(({ x }) => x))];
  return xs.length <= LOADS_MAX ? xs : logTicks(Math.min(...xs) / 1.1, Math.max(...xs) * 1.1);
}

interface Scaled {
  readonly span: Span;
  readonly isLog: boolean;
  readonly px: number;
}

/** Returns a function that converts a value to its position in pixels. */
function toPx({ span, isLog, px }: Scaled): (value: number) => number {
  const scale = isLog ? Math.log : Number;
  const [low, high] = span.map(scale) as [number, number];
  return (value) => ((scale(value) - low) / (high - low)) * px;
}

/** The least distances between two labels. */
const [LABEL_WIDTH_PX, LABEL_HEIGHT_PX] = [24, 11];

/**
 * Returns the points with a label, without those whose label would cover that of the next point of
 * the line.
 */
function withoutOverlaps(
  points: readonly Point[],
  px: Readonly<Record<'x' | 'y', (value: number) => number>>,
): Point[] {
  const shown: Point[] = [];
  for (const point of points.toReversed()) {
    if (point.label === undefined) continue;
    const isCovered = shown
      .filter(({ series, panel }) => series === point.series && panel === point.panel)
      .some(
        ({ x, y }) =>
          Math.abs(px.x(x) - px.x(point.x)) < LABEL_WIDTH_PX &&
          Math.abs(px.y(y) - px.y(point.y)) < LABEL_HEIGHT_PX,
      );
    if (!isCovered) shown.push(point);
  }
  return shown;
}

function axisOf({ label, type }: Axis): Plot.ScaleOptions {
  if (type === 'log') return { type, axis: null, inset: INSET };
  return { ...BESIDE, label, grid: true, inset: INSET, ...(type && { type }) };
}

type Span = readonly [low: number, high: number];

/**
 * Returns the last point of each line in the last panel, with a height for its name, so that names
 * do not overlap.
 */
function ends(
  points: readonly Point[],
  {
    last,
    span,
    isLog,
  }: { readonly last: string | undefined; readonly span: Span; readonly isLog: boolean },
): (Point & { readonly nameAt: number })[] {
  const shown = points.filter(({ panel }) => panel === last);
  const [low, high] = isLog ? (span.map(Math.log) as [number, number]) : span;
  const perPx = (high - low) / (PLOT_PX - 2 * INSET);
  const heightOf = ({ y }: Point): number => ((isLog ? Math.log(y) : y) - low) / perPx;
  const sorted = [...new Map(shown.map((point) => [point.series, point])).values()].toSorted(
    (a, b) => heightOf(a) - heightOf(b),
  );
  const heights = spreadOut(sorted.map(heightOf));
  return sorted.map((point, at) => {
    const value = low + (heights[at] as number) * perPx;
    return { ...point, nameAt: isLog ? Math.exp(value) : value };
  });
}

/** Moves ascending heights apart, each group about its middle. */
function spreadOut(heights: readonly number[]): number[] {
  const groups: { middle: number; count: number }[] = [];
  for (const height of heights) {
    let group = { middle: height, count: 1 };
    for (let below = groups.at(-1); below !== undefined; below = groups.at(-1)) {
      const needed = ((below.count + group.count) / 2) * NAME_PX;
      if (group.middle - below.middle >= needed) break;
      const count = below.count + group.count;
      group = { middle: (below.middle * below.count + group.middle * group.count) / count, count };
      groups.pop();
    }
    groups.push(group);
  }
  return groups.flatMap(({ middle, count }) =>
    Array.from({ length: count }, (_, at) => middle + (at - (count - 1) / 2) * NAME_PX),
  );
}
