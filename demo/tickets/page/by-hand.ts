/** Buying one ticket by hand: the three moments of the last purchase, as they come. */
import { byId, make } from './dom.ts';
import { formatItem, formatMs } from './format.ts';
import type { Row, TicketShop } from './ticket-shop.ts';

export type ShowByHand = () => void;

export function byHandView(shop: TicketShop): ShowByHand {
  const site = byId('site', HTMLSelectElement);
  const buy = byId('buy', HTMLButtonElement);
  const steps = byId('steps', HTMLOListElement);
  for (const name of new Set(shop.settings.retailers)) site.append(new Option(name, name));
  const isOpen = (): boolean => ['ready', 'selling', 'stopped', 'sold-out'].includes(shop.phase);
  buy.addEventListener('click', () => {
    if (isOpen()) void shop.buy(site.value);
  });

  let shown: Row | undefined | null = null;
  return () => {
    buy.setAttribute('aria-disabled', String(!isOpen()));
    const last = [...shop.sale.rows.values()].findLast((row) => row.byHand);
    if (last === shown) return;
    shown = last;
    steps.replaceChildren(
      ...(last === undefined ? [make('li', 'idle', 'You have not bought a ticket in this sale.')] : stepsOf(last)),
    );
  };
}

function stepsOf(row: Row): HTMLElement[] {
  return [
    step('Preliminary', ticket(row.preliminaryItem), row.preliminaryMs),
    step('You are told', answer(row), row.toldMs, toldClass(row)),
    step(
      'Final',
      row.told === 'yes' && row.finalItem === null ? 'none left: revoked' : ticket(row.finalItem),
      row.finalMs,
    ),
  ];
}

function step(name: string, value: string | undefined, ms: number | undefined, className = ''): HTMLElement {
  const said = ms !== undefined && value !== undefined;
  return make(
    'li',
    '',
    make('span', 'name', name),
    make('span', className, said ? value : '…'),
    make('span', 'ms', said ? formatMs(ms) : ''),
  );
}

function ticket(item: string | null | undefined): string | undefined {
  if (item === undefined) return undefined;
  return item === null ? formatItem(item) : `ticket ${formatItem(item)}`;
}

function answer({ told, early }: Row): string | undefined {
  if (told === undefined) return undefined;
  if (told === 'no') return 'no: sold out';
  return early === true ? 'yes, early' : 'yes, on the final view';
}

function toldClass({ early }: Row): string {
  return early === true ? 'early' : 'waited';
}
