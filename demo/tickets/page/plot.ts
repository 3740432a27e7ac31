/**
 * The live plot: how long each purchase took, against the number of tickets left (OSDI 2016, Figure
 * 12).
 */
import uPlot from 'uplot';
import { cssColor } from '../../shared/page/dom.ts';
import { logRange, logTicks, MS_MIN } from './log-scale.ts';

/** One dot. */
export interface Dot {
  readonly ticketsLeft: number;
  readonly ms: number;
}

/**
 * The kinds of dots, in the order in which they are drawn, with the colors as custom properties of
 * style.css.
 */
export const DOT_COLORS = {
  /** Final views of purchases that were answered early. */
  background: '--pale',
  /** Answered without incremental views. */
  strong: '--strong',
  /** Answered on the preliminary view. */
  early: '--early',
  /** Answered on the final view. */
  waited: '--good',
  /** Means over several sales, without incremental views and with them. */
  meanStrong: '--strong',
  mean: '--early',
} as const satisfies Readonly<Record<string, string>>;

export type DotKind = keyof typeof DOT_COLORS;
export type PlotData = Readonly<Record<DotKind, readonly Dot[]>>;

const KINDS = Object.keys(DOT_COLORS) as readonly DotKind[];
/** The kinds of small dots, which stay in the background. */
const SMALL: ReadonlySet<DotKind> = new Set(['background', 'strong']);
const DOT_SIZE = 6;
const SMALL_DOT_SIZE = 5;
/** Pixels below which a long label does not fit: it would be cut off. */
const LONG_LABEL_WIDTH_MIN = 330;
/**
 * The value of uPlot's logarithmic scale. Its name is in an ambient `const enum`, which does not
 * exist at run time.
 */
// oxlint-disable-next-line typescript/no-unsafe-enum-assignment
const LOGARITHMIC = 3 as uPlot.Scale.Distr;
/** What the axes are made for. */
export interface PlotFrame {
  readonly tickets: number;
  readonly threshold: number;
}

export interface LatencyPlot {
  draw(data: PlotData, frame: PlotFrame): void;
}

/** A plot that fills `place` and follows its width and the colors of the page. */
export function latencyPlot(place: HTMLElement): LatencyPlot {
  const size = (): { width: number; height: number } => ({
    width: place.clientWidth,
    height: place.clientHeight,
  });
  const ticketsLabel =
    size().width < LONG_LABEL_WIDTH_MIN ? 'tickets left' : 'tickets left when the purchase began';
  let frame: PlotFrame = { tickets: 1, threshold: 0 };
  const plot = new uPlot(
    {
      ...size(),
      legend: { show: false },
      cursor: { show: false },
      padding: [12, 12, 0, 0],
      scales: {
        x: { time: false, dir: -1, range: () => [-0.015 * frame.tickets, 1.015 * frame.tickets] },
        y: { distr: LOGARITHMIC, range: (_plot, min, max) => logRange(min, max) },
      },
      axes: [
        { ...axis(ticketsLabel), size: 30 },
        {
          ...axis('latency in milliseconds (log scale)'),
          size: 52,
          splits: (_plot, _axis, min, max) => logTicks(min, max),
          filter: (_plot, splits) => splits,
        },
      ],
      series: [
        {},
        ...KINDS.map((kind) => dots(DOT_COLORS[kind], SMALL.has(kind) ? SMALL_DOT_SIZE : DOT_SIZE)),
      ],
      hooks: { drawAxes: [(generated) => markThreshold(generated, frame.threshold)] },
    },
    [[], ...KINDS.map(() => [])],
    place,
  );
  new ResizeObserver(() => plot.setSize(size())).observe(place);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plot.redraw());
  return {
    draw: (data, newFrame) => {
      frame = newFrame;
      plot.setData(aligned(data));
    },
  };
}

function dots(color: string, size: number): uPlot.Series {
  const paint = (): string => cssColor(color);
  return { stroke: paint, paths: () => null, points: { show: true, size, width: 0, fill: paint } };
}

function axis(label: string): uPlot.Axis {
  return {
    label,
    labelSize: 22,
    labelFont: '13px system-ui, sans-serif',
    font: '12px system-ui, sans-serif',
    stroke: () => cssColor('--quiet'),
    grid: { stroke: () => cssColor('--line'), width: 1 },
    ticks: { show: false },
  };
}

/** A dashed line where the shop begins to wait for the final view. */
function markThreshold(plot: uPlot, threshold: number): void {
  if (threshold === 0) return;
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(threshold + 0.5, 'x', true));
  ctx.save();
  ctx.strokeStyle = cssColor('--good');
  ctx.fillStyle = cssColor('--good');
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'top';
  ctx.fillText(
    `threshold: ${threshold} left`,
    x - 6 * devicePixelRatio,
    bbox.top + 4 * devicePixelRatio,
  );
  ctx.restore();
}

/**
 * Converts dots to the form of uPlot, which needs one ascending x for all series: a row for each
 * dot, with null in the other series.
 */
function aligned(data: PlotData): uPlot.AlignedData {
  const all = KINDS.flatMap((kind) =>
    data[kind].map(({ ticketsLeft, ms }) => ({ ticketsLeft, ms, kind })),
  );
  all.sort((a, b) => a.ticketsLeft - b.ticketsLeft);
  const column = (kind: DotKind): (number | null)[] =>
    all.map((dot) => (dot.kind === kind ? Math.max(MS_MIN, dot.ms) : null));
  return [all.map((dot) => dot.ticketsLeft), ...KINDS.map(column)];
}
