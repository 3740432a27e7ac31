/** The plot and the table above it: how long customers waited, by what they waited for. */
import { percentiles, type Percentiles } from '../report.ts';
import { byId, make, setText } from './dom.ts';
import { formatMs } from './format.ts';
import { DOT_COLOURS, latencyPlot, type Dot, type PlotData } from './plot.ts';
import type { Row, SaleRecord } from './ticket-shop.ts';
import type { Settings } from './settings.ts';

type Kind = keyof PlotData;
type Duration = 'toldMs' | 'finalMs';

const KINDS: readonly { readonly kind: Kind; readonly label: string; readonly duration: Duration }[] = [
  { kind: 'early', label: 'Told yes early', duration: 'toldMs' },
  { kind: 'background', label: '… and their final view', duration: 'finalMs' },
  { kind: 'waited', label: 'Told yes on the final view', duration: 'toldMs' },
];

/** Shows a sale's latencies; call it again after each change. */
export type ShowWaits = (sale: SaleRecord) => void;

export function waitsView(settings: Settings): ShowWaits {
  const legend = byId('legend', HTMLTableSectionElement);
  const place = byId('plot', HTMLDivElement);
  const rows = new Map(KINDS.map(({ kind, label }) => [kind, legendRow(legend, kind, label)]));
  const plot = latencyPlot(place, settings);

  return ({ rows: purchases }) => {
    const told = [...purchases.values()].filter((row) => row.told === 'yes');
    const early = told.filter((row) => row.early === true);
    const groups: Record<Kind, readonly Row[]> = {
      early,
      background: early.filter((row) => row.finalMs !== undefined),
      waited: told.filter((row) => row.early !== true),
    };
    const data: Partial<Record<Kind, readonly Dot[]>> = {};
    for (const { kind, duration } of KINDS) {
      const group = groups[kind];
      rows.get(kind)?.(group.length, percentiles(group, duration));
      data[kind] = group.flatMap((row) => dotOf(row, duration));
    }
    plot.draw(data as PlotData);
    place.setAttribute('aria-label', spoken(groups));
  };
}

function legendRow(legend: HTMLElement, kind: Kind, label: string): (size: number, waits: Percentiles) => void {
  const dot = make('span', 'dot');
  dot.style.setProperty('--dot', `var(${DOT_COLOURS[kind]})`);
  const head = make('th', '', dot, label);
  head.scope = 'row';
  const cells = [make('td', '', '0'), make('td', '', '–'), make('td', '', '–')] as const;
  legend.append(make('tr', '', head, ...cells));
  return (size, { p50, p95 }) => {
    setText(cells[0], String(size));
    setText(cells[1], p50 === null ? '–' : formatMs(p50));
    setText(cells[2], p95 === null ? '–' : formatMs(p95));
  };
}

function dotOf(row: Row, duration: Duration): Dot[] {
  const ms = row[duration];
  return ms === undefined || row.ticketsLeft === undefined ? [] : [{ ticketsLeft: row.ticketsLeft, ms }];
}

/** The plot in a sentence, for those who do not see it. */
function spoken({ early, waited }: Record<Kind, readonly Row[]>): string {
  const median = (group: readonly Row[]): string => {
    const { p50 } = percentiles(group, 'toldMs');
    return p50 === null ? 'none yet' : `${group.length} purchases, median ${formatMs(p50)}`;
  };
  return `Purchase latency against tickets left. Told early: ${median(early)}. Told on the final view: ${median(waited)}.`;
}
