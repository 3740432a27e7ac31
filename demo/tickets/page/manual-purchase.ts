/**
 * Lets the visitor buy: shows the three steps of the last purchase as they happen, and starts a
 * rush of customers.
 */
import { byId, make } from '../../shared/page/dom.ts';
import { apology } from './failures.ts';
import { formatItem, formatMs } from './format.ts';
import type { Row } from './sale-record.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import type { Site } from './sites.ts';
import type { TicketShop } from './ticket-shop.ts';

/** The number of customers of a rush, more than a site accepts at a time. */
export const RUSH_CUSTOMERS = 200;

export type ShowByHand = () => void;

export function byHandView(shop: TicketShop): ShowByHand {
  const site = byId('site', HTMLSelectElement);
  const buy = byId('buy', HTMLButtonElement);
  const rush = byId('rush', HTMLButtonElement);
  const steps = byId('steps', HTMLOListElement);
  rush.textContent = `Send ${RUSH_CUSTOMERS} customers at once`;
  buy.addEventListener('click', () => void shop.buy(site.value));
  rush.addEventListener('click', () => void shop.rush(site.value, RUSH_CUSTOMERS));

  let sites: readonly Site[] = [];
  let shown: Row | undefined | null = null;
  return () => {
    for (const button of [buy, rush]) button.setAttribute('aria-disabled', String(!shop.isOpen));
    if (shop.sites !== sites && shop.sites.length > 0) {
      sites = shop.sites;
      offer(site, sites, shop.settings.retailers[0]);
    }
    const last = [...shop.sale.rows.values()].findLast((row) => row.byHand);
    if (last === shown) return;
    shown = last;
    steps.replaceChildren(
      ...(last === undefined
        ? [make('li', 'idle', 'You have not bought a ticket in this sale.')]
        : getSteps(last)),
    );
  };
}

/**
 * Offers the sites, and keeps the choice that was made, if any: else the site of the first
 * retailer.
 */
function offer(select: HTMLSelectElement, sites: readonly Site[], preferred = ''): void {
  const chosen = select.value === '' ? preferred : select.value;
  select.replaceChildren(
    ...sites.map(({ name }) => new Option(formatSite(name), name, false, name === chosen)),
  );
}

function getSteps(row: Row): HTMLElement[] {
  const revoked = row.answer === 'yes' && row.finalItem === null;
  const otherwise = waiting(row);
  const final = revoked ? 'none left: taken back' : ticket(row.finalItem);
  return [
    step('Early answer', row.preliminaryMs, { text: ticket(row.preliminaryItem), otherwise }),
    step('You hear', row.answeredMs, {
      text: answer(row),
      className: row.early === true ? 'early' : 'good',
      otherwise,
    }),
    step('Confirmed', row.finalMs, { text: final, className: revoked ? 'bad' : '', otherwise }),
  ];
}

interface Said {
  readonly text: string | undefined;
  readonly className?: string;
  /** The text until there is a value. */
  readonly otherwise: string;
}

function step(
  name: string,
  ms: number | undefined,
  { text, className = '', otherwise }: Said,
): HTMLElement {
  const isSaid = ms !== undefined && text !== undefined;
  return make(
    'li',
    '',
    make('span', 'name', name),
    make('span', isSaid ? className : '', isSaid ? text : otherwise),
    make('span', 'ms', isSaid ? formatMs(ms) : ''),
  );
}

/** Returns the text for a missing view. */
function waiting({ failure, retries }: Row): string {
  if (failure !== undefined) return apology(failure);
  return retries === undefined ? '…' : `busy, try ${retries + 1}…`;
}

function ticket(item: string | null | undefined): string | undefined {
  if (item === undefined) return undefined;
  return item === null ? formatItem(item) : `ticket ${formatItem(item)}`;
}

function answer({ answer: reported, early }: Row): string | undefined {
  if (reported === undefined) return undefined;
  if (reported === 'no') return 'no: sold out';
  return early === true ? 'yes, early' : 'yes, confirmed';
}
