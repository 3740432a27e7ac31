/** The plot and the table above it: how long customers waited, by what they waited for. */
import { averageWaits } from '../average.ts';
import { percentilesOf, type Percentiles } from '../verify/percentiles.ts';
import { byId, make, setText } from '../../shared/page/dom.ts';
import { formatMs } from './format.ts';
import { DOT_COLORS, latencyPlot, type Dot, type DotKind, type PlotData } from './plot.ts';
import type { Row, SaleRecord } from './sale-record.ts';
import type { TicketShop } from './ticket-shop.ts';

type Duration = 'answeredMs' | 'finalMs';
type Kind = Exclude<DotKind, 'mean' | 'meanStrong'>;
type Groups = Readonly<Record<Kind, readonly Row[]>>;

const KINDS: readonly {
  readonly kind: Kind;
  readonly label: string;
  readonly duration: Duration;
}[] = [
  { kind: 'early', label: 'Yes on the early answer', duration: 'answeredMs' },
  { kind: 'background', label: '… and when it was confirmed', duration: 'finalMs' },
  { kind: 'waited', label: 'Yes on the confirmed answer', duration: 'answeredMs' },
  { kind: 'strong', label: 'Without early answers', duration: 'answeredMs' },
];
const NO_DOTS: PlotData = {
  background: [],
  strong: [],
  early: [],
  waited: [],
  meanStrong: [],
  mean: [],
};

export type ShowWaits = () => void;

export function waitsView(shop: TicketShop): ShowWaits {
  const legend = byId('legend', HTMLTableSectionElement);
  const place = byId('plot', HTMLDivElement);
  const lines = new Map(KINDS.map(({ kind, label }) => [kind, legendRow(legend, kind, label)]));
  const plot = latencyPlot(place);
  const isAverage = averageChoice(shop);

  return () => {
    const { sale, settings, series } = shop;
    const frame = { tickets: Math.max(1, sale.tickets), threshold: settings.threshold };
    const groups = parseGroups([sale]);
    const shown = isAverage() ? parseGroups(series.finished) : groups;
    for (const { kind, duration } of KINDS)
      lines.get(kind)?.(
        shown[kind].length,
        percentilesOf(shown[kind].flatMap((row) => row[duration] ?? [])),
      );
    plot.draw(isAverage() ? means(series.finished) : dotsOf(groups), frame);
    place.setAttribute('aria-label', spoken(shown));
  };
}

/**
 * Shows the choice between this sale and the average of all finished sales, once there are several.
 */
function averageChoice(shop: TicketShop): () => boolean {
  const choice = byId('choice', HTMLFieldSetElement);
  const average = byId('show-average', HTMLInputElement);
  const current = byId('show-current', HTMLInputElement);
  const label = byId('average-label', HTMLSpanElement);
  let finishedBefore = 0;
  for (const input of [average, current]) input.addEventListener('change', () => shop.change({}));
  return () => {
    const { finished, sales } = shop.series;
    choice.hidden = finished.length < 2;
    setText(label, `Average of ${finished.length} sales`);
    if (finished.length !== finishedBefore && finished.length === sales && sales > 1)
      average.checked = true;
    if (finished.length < 2) current.checked = true;
    finishedBefore = finished.length;
    return average.checked;
  };
}

function parseGroups(sales: readonly SaleRecord[]): Groups {
  const reported = sales.flatMap(({ rows }) =>
    [...rows.values()].filter((row) => row.answer === 'yes'),
  );
  const early = reported.filter((row) => row.early === true);
  return {
    early,
    background: early.filter((row) => row.finalMs !== undefined),
    waited: reported.filter((row) => row.early !== true),
    strong: sales.flatMap(({ baseline }) =>
      [...baseline.values()].filter((row) => row.answer === 'yes'),
    ),
  };
}

function dotsOf(groups: Groups): PlotData {
  const dots = KINDS.map(
    ({ kind, duration }) => [kind, groups[kind].flatMap((row) => dotOf(row, duration))] as const,
  );
  return { ...NO_DOTS, ...Object.fromEntries(dots) };
}

function dotOf(row: Row, duration: Duration): Dot[] {
  const ms = row[duration];
  return ms === undefined || row.ticketsLeft === undefined
    ? []
    : [{ ticketsLeft: row.ticketsLeft, ms }];
}

/** Returns the mean waits, as in Figure 12 of the paper. */
function means(sales: readonly SaleRecord[]): PlotData {
  return {
    ...NO_DOTS,
    mean: averageWaits(sales.map(({ rows }) => [...rows.values()])),
    meanStrong: averageWaits(sales.map(({ baseline }) => [...baseline.values()])),
  };
}

function legendRow(
  legend: HTMLElement,
  kind: Kind,
  label: string,
): (size: number, waits: Percentiles) => void {
  const dot = make('span', 'dot');
  dot.style.setProperty('--dot', `var(${DOT_COLORS[kind]})`);
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

/** Describes the plot in a sentence, for people who cannot see it. */
function spoken({ early, waited, strong }: Groups): string {
  const median = (group: readonly Row[]): string => {
    const { p50 } = percentilesOf(group.flatMap(({ answeredMs }) => answeredMs ?? []));
    return p50 === null ? 'none yet' : `${group.length} purchases, median ${formatMs(p50)}`;
  };
  const [first, second, third] = [early, waited, strong].map(median);
  return `Purchase latency against tickets left. Answered early: ${first}. Answered when confirmed: ${second}. Without early answers: ${third}.`;
}
