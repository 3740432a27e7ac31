/** Figure 11 as two plots: what a request costs in time beside what is possible, and latency against throughput. */
import * as Plot from '@observablehq/plot';
import type { Comparison } from '../../demo/shared/speculation/report.ts';
import { WAYS, type Way } from '../../demo/shared/speculation/application.ts';
import { figure } from '../harness/figure.ts';
import { median } from '../harness/statistics.ts';
import { isSwept, placeOf, UNLOADED_WORKERS, type Measured } from './settings.ts';

const COLORS: Readonly<Record<Way, string>> = { baseline: '#9aa3ad', correctable: '#4a7fb5' };
const NAMES: Readonly<Record<Way, string>> = { baseline: 'without speculation', correctable: 'with speculation' };
/** How a point's label stands. */
const LABELS = {
  baseline: { dx: -10, dy: -9, fill: '#5b6570' },
  correctable: { dx: 12, dy: 9, fill: '#2f5f8f' },
} as const satisfies Readonly<Record<Way, object>>;
const IDEAL = '#c0392b';

/** Mean time to delivery with few requests at a time. */
export function latencyFigure(title: string, measured: readonly Measured[]): string {
  const unloaded = measured.filter(({ workers }) => workers === UNLOADED_WORKERS);
  const idealOf = ({ rounds }: Measured): number => median(rounds.map(({ P, F, t }) => Math.max(F, P + t)));
  const bars = unloaded.flatMap((setting) => {
    const place = labelOf(setting);
    return WAYS.map((way) => {
      const values = setting.rounds.map((round) => round[way].avgMs);
      const [mid, min, max] = [median(values), Math.min(...values), Math.max(...values)];
      // The number stands clear of the mark.
      const end = way === 'correctable' ? Math.max(max, idealOf(setting)) : max;
      return { place, way: NAMES[way], color: COLORS[way], mid, min, max, end };
    });
  });
  const ideals = unloaded.map((setting) => ({
    place: labelOf(setting),
    way: NAMES.correctable,
    ms: idealOf(setting),
  }));
  return figure(`${title}: mean time to delivery (red: max(F, P + t))`, {
    height: 110 + unloaded.length * 62,
    marginLeft: 140,
    marginRight: 150,
    x: { label: 'milliseconds (median and range of the rounds)', grid: true, zero: true, insetRight: 60 },
    y: { label: null, domain: WAYS.map((way) => NAMES[way]), tickSize: 0 },
    fy: { label: null, domain: unloaded.map(labelOf), padding: 0.2 },
    marks: [
      Plot.barX(bars, { fy: 'place', y: 'way', x: 'mid', fill: 'color', insetTop: 1, insetBottom: 1 }),
      Plot.ruleY(bars, { fy: 'place', y: 'way', x1: 'min', x2: 'max', stroke: '#1b1f24' }),
      Plot.tickX(ideals, { fy: 'place', y: 'way', x: 'ms', stroke: IDEAL, strokeWidth: 2.5 }),
      Plot.text(bars, {
        fy: 'place',
        y: 'way',
        x: 'end',
        text: ({ mid }: (typeof bars)[number]) => mid.toFixed(1),
        dx: 8,
        textAnchor: 'start',
      }),
      Plot.ruleX([0]),
    ],
  });
}

/** Latency against throughput, one curve a workload and contender, one point a load. */
export function curvesFigure(title: string, measured: readonly Measured[]): string {
  const points = measured.filter(isSwept).flatMap((setting) =>
    WAYS.map((way) => {
      const of = (value: (comparison: Comparison) => number): number => median(setting.rounds.map(value));
      return {
        workload: `workload ${setting.workload}`,
        workers: setting.workers,
        way: NAMES[way],
        opsPerSec: of((round) => round[way].opsPerSec),
        avgMs: of((round) => round[way].avgMs),
      };
    }),
  );
  const place = { fx: 'workload', x: 'opsPerSec', y: 'avgMs' } as const;
  return figure(`${title}: so many in flight (blue: with speculation)`, {
    width: 900,
    height: 404,
    marginLeft: 64,
    marginTop: 72,
    marginRight: 20,
    x: { label: 'operations per second', grid: true, zero: true, ticks: 4, insetRight: 14 },
    y: { label: 'mean time to delivery (ms)', grid: true, zero: true, insetTop: 24 },
    fx: { label: null, padding: 0.12 },
    color: { domain: WAYS.map((way) => NAMES[way]), range: WAYS.map((way) => COLORS[way]) },
    marks: [
      Plot.frame({ stroke: '#d8dce0' }),
      Plot.line(points, { ...place, stroke: 'way', strokeWidth: 2, sort: 'workers' }),
      Plot.dot(points, { ...place, fill: 'way', r: 4 }),
      // Those of one curve above their points, those of the other below: near the peak both are in one place.
      ...WAYS.map((way) =>
        Plot.text(
          points.filter((point) => point.way === NAMES[way]),
          { ...place, text: 'workers', fontSize: 10, ...LABELS[way] },
        ),
      ),
    ],
  });
}

function labelOf(setting: Measured): string {
  return `${setting.workload}, client in ${placeOf(setting)}`;
}
