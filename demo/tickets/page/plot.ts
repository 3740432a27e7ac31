/** The live plot: what each purchase cost in time, against the tickets that were left (OSDI 2016, Figure 12). */
import uPlot from 'uplot';
import { cssVar } from './dom.ts';

/** One dot. */
export interface Dot {
  readonly ticketsLeft: number;
  readonly ms: number;
}

export interface PlotData {
  /** Final views of purchases that were told early. */
  readonly background: readonly Dot[];
  /** Told on the preliminary view. */
  readonly early: readonly Dot[];
  /** Told on the final view. */
  readonly waited: readonly Dot[];
}

/** The colours, as the custom properties of style.css. */
export const DOT_COLOURS: Readonly<Record<keyof PlotData, string>> = {
  background: '--pale',
  early: '--early',
  waited: '--waited',
};

/** In the order in which they are drawn. */
const SERIES = ['background', 'early', 'waited'] as const;
/** uPlot's name for it is in an ambient `const enum`, which does not exist when the page runs. */
// oxlint-disable-next-line typescript/no-unsafe-enum-assignment
const LOGARITHMIC = 3 as uPlot.Scale.Distr;
/** A clock of the browser may be as coarse as this, and a logarithm needs more than zero. */
const MS_MIN = 0.1;

export interface LatencyPlot {
  draw(data: PlotData): void;
}

/** A plot that fills `place` and follows its width and the colours of the page. */
export function latencyPlot(
  place: HTMLElement,
  { tickets, threshold }: { tickets: number; threshold: number },
): LatencyPlot {
  const size = (): { width: number; height: number } => ({ width: place.clientWidth, height: place.clientHeight });
  const margin = tickets * 0.015;
  const plot = new uPlot(
    {
      ...size(),
      legend: { show: false },
      cursor: { show: false },
      padding: [12, 12, 0, 0],
      scales: {
        x: { time: false, dir: -1, range: [-margin, tickets + margin] },
        y: { distr: LOGARITHMIC, range: (_plot, min, max) => range(min, max) },
      },
      axes: [
        { ...axis('tickets left when the purchase began'), size: 30 },
        {
          ...axis('latency in milliseconds (log scale)'),
          size: 52,
          splits: (_plot, _axis, min, max) => ticks(min, max),
          filter: (_plot, splits) => splits,
        },
      ],
      series: [{}, ...SERIES.map((name) => dots(DOT_COLOURS[name], name === 'background' ? 5 : 6))],
      hooks: { drawAxes: [(drawn) => markThreshold(drawn, threshold)] },
    },
    aligned({ background: [], early: [], waited: [] }),
    place,
  );
  new ResizeObserver(() => plot.setSize(size())).observe(place);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plot.redraw());
  return { draw: (data) => plot.setData(aligned(data)) };
}

function dots(colour: string, size: number): uPlot.Series {
  const paint = (): string => cssVar(colour);
  return { stroke: paint, paths: () => null, points: { show: true, size, width: 0, fill: paint } };
}

function axis(label: string): uPlot.Axis {
  return {
    label,
    labelSize: 22,
    labelFont: '13px system-ui, sans-serif',
    font: '12px system-ui, sans-serif',
    stroke: () => cssVar('--quiet'),
    grid: { stroke: () => cssVar('--line'), width: 1 },
    ticks: { show: false },
  };
}

/** A dashed line where the shop begins to wait for the final view. */
function markThreshold(plot: uPlot, threshold: number): void {
  if (threshold === 0) return;
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(threshold + 0.5, 'x', true));
  ctx.save();
  ctx.strokeStyle = cssVar('--waited');
  ctx.fillStyle = cssVar('--waited');
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'top';
  ctx.fillText(`threshold: ${threshold} left`, x - 6 * devicePixelRatio, bbox.top + 4 * devicePixelRatio);
  ctx.restore();
}

/** uPlot wants one ascending x for all series: a row a dot, with null in the other series. */
function aligned(data: PlotData): uPlot.AlignedData {
  const all = SERIES.flatMap((name, series) => data[name].map((dot) => ({ ...dot, series })));
  all.sort((a, b) => a.ticketsLeft - b.ticketsLeft);
  const column = (series: number): (number | null)[] =>
    all.map((dot) => (dot.series === series ? Math.max(MS_MIN, dot.ms) : null));
  return [all.map((dot) => dot.ticketsLeft), column(0), column(1), column(2)];
}

/** From one tick to another, around the data; one to a hundred milliseconds while there is none. */
function range(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null) return [1, 100];
  const all = ticks(MS_MIN, 10 * max);
  const low = all.findLast((tick) => tick <= min) ?? MS_MIN;
  const high = all.find((tick) => tick >= max * 1.1) ?? 10 * max;
  return [Math.min(low, 1), Math.max(high, 100)];
}

/** 1, 2, 5, 10, 20, 50, …: few enough to read, even on a log scale. */
function ticks(min: number, max: number): number[] {
  const values: number[] = [];
  for (let decade = 10 ** Math.floor(Math.log10(min)); decade <= max; decade *= 10) {
    for (const step of [1, 2, 5]) {
      const value = Number((decade * step).toPrecision(1));
      if (value >= min * 0.999 && value <= max * 1.001) values.push(value);
    }
  }
  return values;
}
