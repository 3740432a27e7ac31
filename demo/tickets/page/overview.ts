/** The head of the page: its state, the tickets left, the counts, and the buttons of the sale. */
import { count, type Counts } from '../report.ts';
import { adviceFor } from './advice.ts';
import { byId, make, setText } from './dom.ts';
import type { Phase, TicketShop } from './ticket-shop.ts';

const COUNTS: readonly {
  readonly name: keyof Counts;
  readonly label: string;
  readonly meaning: string;
  readonly faulty?: true;
}[] = [
  { name: 'confirmed', label: 'sold', meaning: 'Customers told yes' },
  { name: 'confirmedEarly', label: 'confirmed early', meaning: 'Customers told yes on the preliminary view' },
  { name: 'revoked', label: 'revoked', meaning: 'Told yes, but the final view was empty', faulty: true },
  { name: 'oversold', label: 'oversold', meaning: 'Sold, not revoked, and beyond the stock', faulty: true },
  { name: 'duplicates', label: 'sold twice', meaning: 'Tickets that two customers hold', faulty: true },
];

export type ShowOverview = () => void;

export function overviewView(shop: TicketShop): ShowOverview {
  const { tickets, threshold } = shop.settings;
  const showCounts = countsView();
  const left = byId('left', HTMLSpanElement);
  const failure = byId('failure', HTMLElement);
  const fill = byId('bar-fill', HTMLDivElement);
  const [start, stop] = buttons(shop);
  setText(byId('tickets', HTMLSpanElement), String(tickets));
  explain(threshold);
  setText(byId('retailers', HTMLSpanElement), `Retailers beside: ${shop.settings.retailers.join(', ')}.`);
  byId('bar-threshold', HTMLDivElement).style.width = `${Math.min(100, (100 * threshold) / tickets)}%`;

  return () => {
    const sold = [...shop.sale.rows.values()].filter((row) => typeof row.finalItem === 'string').length;
    const remaining = tickets - sold;
    showPhase(shop.phase, shop.lostSites);
    if (shop.phase === 'failed') showFailure(shop.failure);
    else failure.hidden = true;
    showCounts(count(shop.sale.history, tickets));
    setText(left, shop.phase === 'connecting' || shop.phase === 'stocking' ? '–' : String(remaining));
    fill.style.width = `${(100 * remaining) / tickets}%`;
    fill.classList.toggle('few', remaining <= threshold);
    setText(start, shop.phase === 'ready' ? 'Start selling' : 'Start a new sale');
    start.setAttribute('aria-disabled', String(shop.phase === 'connecting' || shop.phase === 'stocking'));
    stop.setAttribute('aria-disabled', String(shop.phase !== 'selling'));
  };
}

/** Fits the explanation to the threshold. */
function explain(threshold: number): void {
  setText(byId('threshold', HTMLSpanElement), String(threshold));
  if (threshold > 0) {
    setText(byId('threshold-again', HTMLSpanElement), String(threshold));
    return;
  }
  const below = 'There is no threshold in this sale, so the last customers may be told yes and get no ticket: revoked.';
  setText(byId('below-threshold', HTMLSpanElement), below);
}

/** A button that can do nothing keeps the focus: it is marked as disabled, and the shop ignores it. */
function buttons(shop: TicketShop): [start: HTMLButtonElement, stop: HTMLButtonElement] {
  const start = byId('start', HTMLButtonElement);
  const stop = byId('stop', HTMLButtonElement);
  start.addEventListener('click', () => void shop.start());
  stop.addEventListener('click', () => shop.stop());
  return [start, stop];
}

function countsView(): (counts: Counts) => void {
  const list = byId('counts', HTMLDListElement);
  const shown = COUNTS.map(({ name, label, meaning, faulty }) => {
    const value = make('dd', '', '0');
    const group = make('div', '', make('dt', '', label), value);
    group.title = meaning;
    value.dataset['count'] = name;
    list.append(group);
    return (counts: Counts): void => {
      setText(value, String(counts[name]));
      group.classList.toggle('bad', faulty === true && counts[name] > 0);
    };
  });
  return (counts) => {
    for (const show of shown) show(counts);
  };
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

function showPhase(phase: Phase, lostSites: readonly string[] = []): void {
  const status = byId('status', HTMLParagraphElement);
  const isLost = lostSites.length > 0 && phase !== 'connecting' && phase !== 'failed';
  status.dataset['phase'] = phase;
  setText(status, isLost ? `No connection to ${lostSites.join(', ')}: trying again…` : PHASES[phase]);
}

/** Says what went wrong and what to do. */
export function showFailure(failure: unknown): void {
  showPhase('failed');
  byId('failure', HTMLElement).hidden = false;
  setText(byId('failure-advice', HTMLParagraphElement), adviceFor(failure));
  setText(byId('failure-detail', HTMLParagraphElement), failure instanceof Error ? failure.message : String(failure));
}
