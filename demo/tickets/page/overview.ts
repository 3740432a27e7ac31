/** The head of the page: its state, the tickets left, the counts, and the buttons of the sale. */
import { verifySales, type Verdict } from '../verify/verify-sales.ts';
import { byId, make, setText } from '../../shared/page/dom.ts';
import { adviceFor } from './failures.ts';
import { noticesFor, type Notice } from './notices.ts';
import type { OtherTabs } from './other-tabs.ts';
import { baselineLeft, soldElsewhere, type SaleRecord } from './sale-record.ts';
import { formatHeadline, formatSelling } from './sale-texts.ts';
import { inviteTo } from './settings.ts';
import type { Phase, TicketShop } from './ticket-shop.ts';

const COUNTS: readonly {
  readonly name: 'confirmed' | 'confirmedEarly' | 'revoked' | 'oversold' | 'duplicates';
  readonly label: string;
  readonly meaning: string;
  readonly faulty?: true;
}[] = [
  {
    name: 'confirmed',
    label: 'got a yes',
    meaning: 'Customers who got a yes, on the early or on the confirmed answer',
  },
  {
    name: 'confirmedEarly',
    label: 'of them early',
    meaning: 'Customers who got a yes on the early answer',
  },
  {
    name: 'revoked',
    label: 'taken back',
    meaning: 'Got a yes, but no ticket was left in the confirmed answer',
    faulty: true,
  },
  {
    name: 'oversold',
    label: 'oversold',
    meaning: 'Tickets handed out beyond the stock',
    faulty: true,
  },
  {
    name: 'duplicates',
    label: 'sold twice',
    meaning: 'Tickets that two customers hold',
    faulty: true,
  },
];

export type ShowOverview = () => void;

export function overviewView(shop: TicketShop, tabs: OtherTabs): ShowOverview {
  const showCounts = countsView();
  const failure = byId('failure', HTMLElement);
  const headline = byId('headline', HTMLParagraphElement);
  const showStock = stockView();
  const showNotices = noticesView();
  const [start, stop] = buttons(shop);

  return () => {
    const { sale, phase, settings, lostSites } = shop;
    const isOpening = phase === 'connecting' || phase === 'stocking';
    showPhase(phase, shop);
    if (phase === 'failed') showFailure(shop.failure);
    else failure.hidden = true;
    showCounts(verifySales(sale.history));
    showStock(sale, settings.threshold, isOpening);
    explain(settings.threshold);
    setText(headline, isOpening ? '' : formatHeadline(sale));
    const cutSites = shop.sites.filter(({ isCut }) => isCut).map(({ name }) => name);
    const next = tabs.next === undefined ? undefined : inviteTo(tabs.next, settings);
    showNotices(
      noticesFor({
        lostSites: isOpening ? [] : lostSites,
        cutSites,
        rows: sale.rows.values(),
        next,
      }),
    );
    setText(start, phase === 'ready' ? 'Start selling' : 'Start a new sale');
    start.setAttribute('aria-disabled', String(isOpening));
    stop.setAttribute('aria-disabled', String(phase !== 'selling'));
  };
}

type ShowStock = (sale: SaleRecord, threshold: number, isOpening: boolean) => void;

function stockView(): ShowStock {
  const [left, of] = [byId('left', HTMLSpanElement), byId('tickets', HTMLSpanElement)];
  const [fill, mark] = [byId('bar-fill', HTMLDivElement), byId('bar-threshold', HTMLDivElement)];
  const [elsewhere, baseline] = [
    byId('elsewhere', HTMLParagraphElement),
    byId('baseline', HTMLDivElement),
  ];
  const [baselineText, baselineFill] = [
    byId('baseline-left', HTMLSpanElement),
    byId('baseline-fill', HTMLDivElement),
  ];
  return (sale, threshold, isOpening) => {
    const share = (tickets: number): string =>
      `${(100 * Math.min(tickets, sale.tickets)) / Math.max(1, sale.tickets)}%`;
    const others = soldElsewhere(sale);
    setText(of, sale.tickets === 0 ? '–' : String(sale.tickets));
    setText(left, isOpening ? '–' : String(sale.left));
    fill.style.width = share(sale.left);
    fill.classList.toggle('few', sale.left <= threshold);
    mark.style.width = share(threshold);
    elsewhere.hidden = others === 0;
    setText(elsewhere, `${others} taken in other tabs, or without an answer`);
    const remaining = baselineLeft(sale);
    baseline.hidden = sale.baseline.size === 0;
    setText(baselineText, String(remaining));
    baselineFill.style.width = share(remaining);
  };
}

/** Updates the explanation for the threshold. */
function explain(threshold: number): void {
  const above =
    threshold === 0
      ? 'As long as tickets are left'
      : `While more than ${threshold} tickets are left`;
  const below =
    threshold === 0
      ? 'There is no threshold now, so the last customers may get a yes that is taken back.'
      : `For the last ${threshold} the shop waits for the confirmed answer, so the latency steps up, and none of them is promised a ticket that another site has just sold.`;
  const watch =
    threshold === 0
      ? 'every customer gets a yes on the early answer, at once. For the last tickets, some yes may be taken back.'
      : `while more than ${threshold} tickets are left, customers get a yes on the early answer, at once. For the last ${threshold} they wait for the confirmed answer, so that no yes is taken back.`;
  setText(byId('watch', HTMLParagraphElement), `What to watch: ${watch}`);
  setText(byId('above-threshold', HTMLSpanElement), above);
  setText(byId('below-threshold', HTMLSpanElement), below);
}

/**
 * Creates the buttons. A disabled button keeps the focus: it is only marked as disabled, and the
 * shop ignores it.
 */
function buttons(shop: TicketShop): [start: HTMLButtonElement, stop: HTMLButtonElement] {
  const start = byId('start', HTMLButtonElement);
  const stop = byId('stop', HTMLButtonElement);
  // Ignore repeated clicks: the sale of the first click must not be ended by a double click, or by
  // a key held down.
  start.addEventListener('click', ({ detail }) => {
    if (detail <= 1) void shop.start();
  });
  start.addEventListener('keydown', (event) => {
    if (event.repeat) event.preventDefault();
  });
  stop.addEventListener('click', () => shop.stop());
  return [start, stop];
}

function countsView(): (counts: Verdict) => void {
  const list = byId('counts', HTMLDListElement);
  const shown = COUNTS.map(({ name, label, meaning, faulty }) => {
    const value = make('dd', '', '0');
    const group = make('div', '', make('dt', '', label), value);
    group.title = meaning;
    value.dataset['count'] = name;
    list.append(group);
    return (counts: Verdict): void => {
      setText(value, String(counts[name]));
      group.classList.toggle('bad', faulty === true && counts[name] > 0);
    };
  });
  return (counts) => {
    for (const show of shown) show(counts);
  };
}

/**
 * Shows one line for each subject. The line stays while its text changes, so that a screen reader
 * does not repeat everything.
 */
function noticesView(): (notices: readonly Notice[]) => void {
  const list = byId('notices', HTMLUListElement);
  const lines = new Map<Notice['about'], HTMLLIElement>();
  return (notices) => {
    const subjects = new Set(notices.map(({ about }) => about));
    for (const [about, line] of lines) {
      if (subjects.has(about)) continue;
      line.remove();
      lines.delete(about);
    }
    for (const notice of notices) {
      const { about } = notice;
      const line = lines.get(about) ?? make('li', `notice ${about}`);
      if (!lines.has(about)) list.append(line);
      lines.set(about, line);
      show(line, notice);
    }
    list.hidden = notices.length === 0;
  };
}

function show(line: HTMLLIElement, { text, link }: Notice): void {
  const words = link === undefined ? text : `${text} ${link.text}`;
  if (line.textContent !== words) {
    line.replaceChildren(text);
    if (link !== undefined) line.append(' ', make('a', '', link.text));
  }
  // The address of the link may change while its text stays.
  const anchor = line.querySelector('a');
  if (anchor !== null && link !== undefined) anchor.href = link.href;
}

const PHASES: Readonly<Record<Phase, string>> = {
  connecting: 'Connecting to the sites…',
  stocking: 'Putting the tickets on sale…',
  ready: 'Ready: the tickets are on sale',
  selling: 'Selling',
  'sold-out': 'Sold out',
  stopped: 'Stopped',
  failed: 'Failed',
};

function showPhase(phase: Phase, shop?: TicketShop): void {
  const status = byId('status', HTMLParagraphElement);
  status.dataset['phase'] = phase;
  setText(status, phase === 'selling' && shop !== undefined ? selling(shop) : PHASES[phase]);
}

function selling({ series: { sales, finished }, lostSites, sale }: TicketShop): string {
  const which = sales > 1 ? `sale ${finished.length + 1} of ${sales}` : undefined;
  const { left, rows, baseline } = sale;
  return formatSelling({
    left,
    baselineLeft: baseline.size === 0 ? 0 : baselineLeft(sale),
    lostSites,
    rows: [...rows.values(), ...baseline.values()],
    which,
  });
}

/** Says what went wrong and what to do. */
export function showFailure(failure: unknown): void {
  showPhase('failed');
  byId('failure', HTMLElement).hidden = false;
  setText(byId('failure-advice', HTMLParagraphElement), adviceFor(failure));
  setText(
    byId('failure-detail', HTMLParagraphElement),
    failure instanceof Error ? failure.message : String(failure),
  );
}
