/** Draws a dot for each figure, with its interval, in one row for each setting. */
import * as Plot from '@observablehq/plot';
import {
  BACK,
  BESIDE,
  BLUE,
  figure,
  INK,
  logAxis,
  logTicks,
  short,
  type Figure,
  type Texts,
} from './svg.ts';

/** A figure with its interval. */
export interface Dot {
  /** The label of the row. Dots of one row have the same label. */
  readonly label: string;
  readonly value: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  /** The best value that is possible, to mark it. */
  readonly best?: number;
  /** Its group of rows, if there are several. Groups have the same rows. */
  readonly group?: string;
  /** Default: blue. */
  readonly color?: string;
  /**
   * The position of the number: above the dot if the row has other dots to its right. Default:
   * beside the interval
   */
  readonly number?: 'above';
}

export interface Intervals extends Texts {
  /** What the axis shows, with its unit. */
  readonly axis: string;
  /** Which direction is better, if one is. */
  readonly better?: 'lower' | 'higher';
  /** Default: linear from 0. */
  readonly scale?: 'log';
  /** A line to compare with. */
  readonly reference?: { readonly at: number; readonly label: string };
  /** The meaning of the colors, if there are several. */
  readonly legend?: Readonly<Record<string, string>>;
  readonly dots: readonly Dot[];
}

const WIDTH = 760;
const ROW_PX = 30;
const LETTER_PX = 6.6;
/** The height of a line of text above the rows. */
const HEAD_PX = 18;
/** The share of the height between groups. */
const GROUP_GAP = 0.25;
/** The share of the axis that a number covers. */
const NUMBER_SHARE = 0.1;
const ARROWS = { lower: '← lower is better', higher: 'higher is better →' } as const;

const BEST_STYLE = { stroke: INK, strokeWidth: 2.5, insetTop: 5, insetBottom: 5 } as const;

type Interval = Dot & { readonly low: number; readonly high: number };

type NumberPlace = 'above' | 'before' | 'after';

const NUMBER_STYLE = {
  text: ({ value }: Dot) => short(value),
  fontWeight: 'bold',
  stroke: BACK,
  strokeWidth: 4,
  paintOrder: 'stroke',
} as const;

const NUMBER_PLACES = [
  ['after', { x: 'high', dx: 9, textAnchor: 'start' }],
  ['before', { x: 'low', dx: -9, textAnchor: 'end' }],
  ['above', { x: 'value', dy: -11 }],
] as const;

function computeDomain(ends: readonly number[], isLog: boolean): readonly [number, number] {
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  return isLog ? [least / 1.15, most * 1.15] : [Math.min(0, least), most];
}

/** Returns a function that finds a place for the number of a dot, where it covers no mark. */
function createNumberPlaces(
  domain: readonly [number, number],
  isLog: boolean,
  reference: number | undefined,
): (dot: Interval) => NumberPlace {
  const scale = isLog ? Math.log : Number;
  const [from, to] = [scale(domain[0]), scale(domain[1])];
  /** Returns the position of a value on the axis, from 0 to 1. */
  const shareOf = (value: number): number => (scale(value) - from) / (to - from);
  /** Returns whether a mark is just beyond the interval, at the position of the number. */
  const isCrowded = ({ high: end, best: mark }: Interval): boolean =>
    [mark, reference].some(
      (other) => other !== undefined && other > end && shareOf(other) < shareOf(end) + NUMBER_SHARE,
    );
  return (dot) => {
    if (dot.number !== undefined || !isCrowded(dot)) return dot.number ?? 'after';
    return shareOf(dot.low) < NUMBER_SHARE ? 'above' : 'before';
  };
}

/** Draws the rows in the order of the dots. */
export function intervalsFigure({
  axis,
  better,
  scale,
  reference,
  legend,
  dots,
  ...texts
}: Intervals): Figure {
  const rows = [...new Set(dots.map(({ label }) => label))];
  const all = dots.map((dot): Interval => ({
    ...dot,
    low: dot.low ?? dot.value,
    high: dot.high ?? dot.value,
  }));
  const groups = [...new Set(dots.flatMap(({ group }) => group ?? []))];
  const best = all.filter((dot) => dot.best !== undefined);
  const ends = all.flatMap(({ low, high, best: mark }) => [low, high, mark ?? low]);
  if (reference !== undefined) ends.push(reference.at);
  const isLog = scale === 'log';
  const domain = computeDomain(ends, isLog);
  const findPlace = createNumberPlaces(domain, isLog, reference?.at);
  const label = better === undefined ? axis : `${axis}   ${ARROWS[better]}`;
  const colorOf = ({ color = BLUE }: Dot): string => color;
  const place = { y: 'label', ...(groups.length > 0 && { fy: 'group' }) } as const;
  const above =
    [reference, legend, groups[0]].filter((part) => part !== undefined).length * HEAD_PX;
  const groupPx = rows.length * ROW_PX;
  return figure(texts, {
    width: WIDTH,
    height:
      50 +
      above +
      groupPx * (groups.length > 1 ? (groups.length - GROUP_GAP) / (1 - GROUP_GAP) : 1),
    marginTop: 8 + above,
    marginLeft: 24 + Math.max(...rows.map(({ length }) => length)) * LETTER_PX,
    marginRight: 64,
    x: {
      ...(isLog ? { type: 'log', axis: null } : { ...BESIDE, label, grid: true }),
      domain,
    },
    y: { label: null, domain: rows, tickSize: 0 },
    ...(groups.length > 0 && {
      fy: { domain: groups, axis: null, paddingInner: GROUP_GAP, paddingOuter: 0 },
    }),
    marks: [
      ...(isLog ? logAxis('x', logTicks(...domain), label) : []),
      ...(reference === undefined ? [] : line(reference)),
      ...keys(legend ?? {}, 4 - above),
      ...(groups.length === 0 ? [] : [names(groups)]),
      Plot.ruleY(all, {
        ...place,
        x1: 'low',
        x2: 'high',
        stroke: colorOf,
        strokeWidth: 2.5,
        strokeOpacity: 0.65,
      }),
      Plot.dot(all, { ...place, fill: colorOf, x: 'value', r: 5, stroke: BACK }),
      Plot.tickX(best, { ...place, x: 'best', ...BEST_STYLE }),
      ...NUMBER_PLACES.map(([name, options]) =>
        Plot.text(
          all.filter((dot) => findPlace(dot) === name),
          { ...place, fill: colorOf, ...NUMBER_STYLE, ...options },
        ),
      ),
    ],
  });
}

function line({ at, label }: { readonly at: number; readonly label: string }): Plot.Markish[] {
  return [
    Plot.ruleX([at], { stroke: INK, strokeDasharray: '4,3' }),
    Plot.text([label], { x: () => at, frameAnchor: 'top', facetAnchor: 'top', dy: -10, fill: INK }),
  ];
}

/** The name of each group above its rows. */
function names(groups: readonly string[]): Plot.Markish {
  return Plot.text(groups, {
    fy: String,
    frameAnchor: 'top-left',
    dy: -13,
    fill: INK,
    fontWeight: 'bold',
  });
}

/** Names in their colors above the rows. */
function keys(legend: Readonly<Record<string, string>>, dy: number): Plot.Markish[] {
  let dx = 0;
  return Object.entries(legend).map(([name, fill]) => {
    const mark = Plot.text([`● ${name}`], {
      frameAnchor: 'top-left',
      facetAnchor: 'top',
      dx,
      dy,
      fill,
      fontWeight: 'bold',
    });
    dx += (name.length + 4) * (LETTER_PX + 0.6);
    return mark;
  });
}
