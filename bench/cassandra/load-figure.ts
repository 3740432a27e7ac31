/** Figure 6 of the paper: mean latency of reads against throughput, one panel a workload. */
import * as Plot from '@observablehq/plot';
import { figure } from '../harness/figure.ts';
import type { Workload } from '../ycsb/workload.ts';
import type { System } from './messages.ts';

/** The median of the rounds of one system under one load. */
export interface CurveRow extends Readonly<Record<string, unknown>> {
  readonly workload: Workload;
  readonly system: System;
  readonly inFlight: number;
  readonly opsPerSec: number;
  readonly preliminaryMs: number | null;
  readonly finalMs: number;
}

const COLORS: Readonly<Record<string, string>> = {
  C1: '#9aa3ad',
  C2: '#1b1f24',
  'CC2 preliminary': '#7fb0de',
  'CC2 final': '#1f6fc4',
};

/** Where each entry of the legend begins, in pixels. */
const LEGEND_AT = [0, 50, 100, 230];

export function curvesFigure(rows: readonly CurveRow[]): string {
  const points = rows.flatMap(({ workload, system, inFlight, opsPerSec, preliminaryMs, finalMs }) => {
    const point = { workload: `workload ${workload}`, inFlight, opsPerSec };
    if (system !== 'CC2') return [{ ...point, view: system as string, ms: finalMs }];
    const final = { ...point, view: 'CC2 final', ms: finalMs };
    return preliminaryMs === null ? [final] : [{ ...point, view: 'CC2 preliminary', ms: preliminaryMs }, final];
  });
  const place = { fx: 'workload', x: 'opsPerSec', y: 'ms' } as const;
  const views = Object.keys(COLORS);
  const first = points[0]?.workload;
  return figure('Reads on Cassandra under load: client in IRL, coordinator in FRK, two more clients at work', {
    width: 900,
    height: 420,
    marginLeft: 64,
    marginTop: 96,
    marginRight: 20,
    x: { label: 'operations per second of this client', grid: true, zero: true, ticks: 4 },
    y: { label: 'mean latency of reads (ms)', grid: true, zero: true, insetTop: 12 },
    fx: { label: null, padding: 0.12 },
    color: { domain: views, range: Object.values(COLORS) },
    marks: [
      Plot.frame({ stroke: '#d8dce0' }),
      Plot.line(points, { ...place, stroke: 'view', strokeWidth: 2, sort: 'inFlight' }),
      Plot.dot(points, { ...place, fill: 'view', r: 3.5 }),
      // A legend above the first panel.
      ...views.map((view, index) =>
        Plot.text([first], {
          fx: (workload: string) => workload,
          frameAnchor: 'top-left',
          dx: LEGEND_AT[index] ?? 0,
          dy: -42,
          text: () => `● ${view}`,
          fill: COLORS[view] as string,
          fontWeight: 'bold',
        }),
      ),
    ],
  });
}
