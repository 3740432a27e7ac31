/**
 * Controls how the retailers sell: their sites, the number of tickets, the threshold and the pace.
 * They can be changed during a sale.
 */
import { TICKETS_MAX } from '../contract.ts';
import { byId, make, setText } from '../../shared/page/dom.ts';
import { inviteTo, RETAILERS_MAX, type Settings } from './settings.ts';
import { formatDistance, formatSite } from '../../shared/page/site-names.ts';
import type { Site } from './sites.ts';
import type { TicketShop } from './ticket-shop.ts';

export type ShowSetup = () => void;

export function setupView(shop: TicketShop): ShowSetup {
  const shows = [
    slider(
      shop,
      'threshold',
      'threshold',
      (value) => `${value} ${value === 1 ? 'ticket' : 'tickets'}`,
    ),
    slider(shop, 'pace', 'paceMs', (value) => `${value} ms`),
    ticketsField(shop),
    salesChoice(shop),
    compareChoice(shop),
    siteList(shop),
  ];
  return () => {
    for (const show of shows) show();
  };
}

/** Creates a slider with immediate effect. Its range grows if the address sets a higher value. */
function slider(
  shop: TicketShop,
  id: string,
  setting: 'threshold' | 'paceMs',
  format: (value: number) => string,
): ShowSetup {
  const input = byId(`${id}-slider`, HTMLInputElement);
  const output = byId(`${id}-value`, HTMLOutputElement);
  input.max = String(Math.max(Number(input.max), shop.settings[setting]));
  input.value = String(shop.settings[setting]);
  input.addEventListener('input', () =>
    shop.change({ [setting]: Number(input.value) } as Partial<Settings>),
  );
  return () => {
    const value = shop.settings[setting];
    input.value = String(value);
    const text = format(value);
    setText(output, text);
    input.setAttribute('aria-valuetext', text);
  };
}

function ticketsField(shop: TicketShop): ShowSetup {
  const input = byId('stock-size', HTMLInputElement);
  input.max = String(TICKETS_MAX);
  input.value = String(shop.settings.tickets);
  input.addEventListener('change', () => {
    if (input.reportValidity()) shop.change({ tickets: Number(input.value) });
  });
  let shown = shop.settings.tickets;
  return () => {
    const { tickets } = shop.settings;
    if (tickets !== shown) input.value = String((shown = tickets));
  };
}

function salesChoice(shop: TicketShop): ShowSetup {
  const select = byId('sales', HTMLSelectElement);
  const input = String(shop.settings.sales);
  if (![...select.options].some(({ value }) => value === input))
    select.append(new Option(input, input));
  select.value = input;
  select.addEventListener('change', () => shop.change({ sales: Number(select.value) }));
  return () => {};
}

function compareChoice(shop: TicketShop): ShowSetup {
  const box = byId('compare', HTMLInputElement);
  box.checked = shop.settings.compare;
  box.addEventListener('change', () => shop.change({ compare: box.checked }));
  return () => {};
}

/** Lists each site with its retailers, its cable, and a link to another tab beside it. */
function siteList(shop: TicketShop): ShowSetup {
  const list = byId('sites', HTMLUListElement);
  let shown: readonly Site[] = [];
  let lines: readonly ShowSetup[] = [];
  return () => {
    if (shop.sites !== shown && shop.sites.length > 0) {
      shown = shop.sites;
      list.replaceChildren();
      lines = shown.map(({ name }) => siteLine(shop, name, list));
    }
    for (const show of lines) show();
  };
}

function siteLine(shop: TicketShop, name: string, list: HTMLElement): ShowSetup {
  const retailers = (): number => shop.settings.retailers.filter((site) => site === name).length;
  const setRetailers = (requested: number): void => {
    const others = shop.settings.retailers.filter((site) => site !== name);
    const allowed = Math.min(Math.max(0, requested), RETAILERS_MAX - others.length);
    shop.change({ retailers: [...others, ...Array.from({ length: allowed }, () => name)] });
  };
  const isCut = (): boolean => shop.sites.some((site) => site.name === name && site.isCut);
  const count = make('output', 'number');
  const hasCable = shop.sites.some((site) => site.name === name && site.setCut !== undefined);
  const cable = button('', '', () => shop.setCut(name, !isCut()));
  cable.hidden = !hasCable;
  const invite = make('a', '', 'another tab');
  invite.target = '_blank';
  invite.title = `Sells the same tickets beside ${formatSite(name)}. Hidden tabs sell slowly: open it in a window of its own.`;
  cable.dataset['cable'] = name;
  list.append(
    make(
      'li',
      'site',
      make('span', 'name', formatSite(name), make('span', 'hint', formatDistance(name))),
      button('−', `One retailer less beside ${formatSite(name)}`, () =>
        setRetailers(retailers() - 1),
      ),
      count,
      button('+', `One retailer more beside ${formatSite(name)}`, () =>
        setRetailers(retailers() + 1),
      ),
      cable,
      invite,
    ),
  );
  return () => {
    setText(count, String(retailers()));
    const action = isCut() ? 'Plug in' : 'Cut off';
    setText(cable, action);
    cable.setAttribute('aria-label', `${action} the cable to ${formatSite(name)}`);
    cable.classList.toggle('cut', isCut());
    invite.href = inviteTo(shop.sale.event, { ...shop.settings, retailers: [name] });
  };
}

function button(text: string, label: string, onClick: () => void): HTMLButtonElement {
  const made = make('button', 'small', text);
  made.type = 'button';
  made.setAttribute('aria-label', label);
  made.addEventListener('click', onClick);
  return made;
}
