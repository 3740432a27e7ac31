/**
 * One teller on the page: balances with their marks, a form for transfers, and the list of them.
 */
import { byId, make, setText } from '../../shared/page/dom.ts';
import { formatMs } from '../../shared/page/format.ts';
import { createNewestRows } from '../../shared/page/newest-rows.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import { ACCOUNTS, getNextAccount, type Account } from '../accounts.ts';
import { getStatus, type Receipt } from '../receipt.ts';
import type { ShownBalance, Teller } from './teller.ts';
import { formatMessage } from './texts.ts';

const CLASSES = {
  early: 'early',
  confirmed: 'good',
  corrected: 'corrected',
  'taken back': 'bad',
} as const;

/** @returns a function that shows the present state of the teller */
export function createTellerView(teller: Teller, distance: string): () => void {
  const template = byId('teller', HTMLTemplateElement).content.cloneNode(true) as DocumentFragment;
  const find = <E extends HTMLElement>(selector: string): E =>
    template.querySelector(selector) as E;
  const [section, message, form] = [
    find('section'),
    find('.message'),
    find<HTMLFormElement>('form'),
  ];
  const place = formatSite(teller.site);
  const title = `Teller in ${place}`;
  section.id = teller.site;
  section.setAttribute('aria-label', title);
  setText(find('h2'), title);
  setText(find('.hint'), distance);
  setText(find('caption'), `Balances in ${place}`);
  find('.scroll').setAttribute('aria-label', `Transfers in ${place}, newest first`);
  const showBalances = createBalances(find('.balances tbody'));
  const showTransfers = createTransfers(find('.transfers tbody'));
  connectForm(form, teller);
  byId('tellers', HTMLDivElement).append(template);
  return () => {
    showBalances(teller.show());
    showTransfers(teller.receipts);
    const latest = teller.receipts.at(-1);
    setText(message, formatMessage(latest));
    message.classList.toggle('bad', latest !== undefined && getStatus(latest) === 'taken back');
  };
}

function createBalances(body: HTMLElement): (shown: ReadonlyMap<Account, ShownBalance>) => void {
  const rows = new Map<Account, { readonly amount: HTMLElement; readonly mark: HTMLElement }>();
  for (const account of ACCOUNTS) {
    const name = make('th', '', account);
    name.scope = 'row';
    const amount = make('td', 'amount');
    const mark = make('span', 'mark');
    const row = make('tr', '', name, amount, make('td', '', mark));
    row.dataset['account'] = account;
    rows.set(account, { amount, mark });
    body.append(row);
  }
  return (shown) => {
    for (const [account, { euros, mark: state, takenBackEuros }] of shown) {
      const row = rows.get(account);
      if (row === undefined) continue;
      const isStruck = takenBackEuros !== undefined && takenBackEuros !== euros;
      const struck = !isStruck ? [] : [make('s', '', `€${takenBackEuros}`), ' '];
      row.amount.replaceChildren(...struck, euros === undefined ? '–' : `€${euros}`);
      row.amount.className = `amount ${state === 'early' ? 'early' : ''}`;
      setText(row.mark, euros === undefined ? '' : state);
      row.mark.className = `mark ${CLASSES[state]}`;
    }
  };
}

function createTransfers(body: HTMLElement): (receipts: readonly Receipt[]) => void {
  return createNewestRows(body, (row, receipt) => {
    row.replaceChildren(...createCells(receipt));
    row.dataset['status'] = getStatus(receipt);
  });
}

function createCells(receipt: Receipt): HTMLTableCellElement[] {
  const { transfer, early, confirmed, refusal, isCorrected } = receipt;
  const name = make('td', '', `€${transfer.euros} ${transfer.from} → ${transfer.to}`);
  const earlyCell = make(
    'td',
    'early',
    early === undefined ? (refusal === undefined ? '…' : '–') : formatMs(early.ms),
  );
  const status = getStatus(receipt);
  const mark = status === 'confirmed' && isCorrected === true ? 'corrected' : status;
  const isOver = confirmed !== undefined || refusal !== undefined;
  const finalCell = make(
    'td',
    '',
    make('span', isOver ? getClass(mark) : 'quiet', isOver ? mark : '…'),
  );
  const ms = confirmed?.ms ?? refusal?.ms;
  if (ms !== undefined) finalCell.append(make('span', 'second', formatMs(ms)));
  return [name, earlyCell, finalCell];
}

function getClass(mark: string): string {
  return mark === 'confirmed' ? 'good' : mark === 'corrected' ? 'corrected' : 'bad';
}

function connectForm(form: HTMLFormElement, teller: Teller): void {
  const field = (name: string): HTMLInputElement =>
    form.elements.namedItem(name) as HTMLInputElement;
  const [euros, from, to] = [field('euros'), field('from'), field('to')];
  for (const select of [from, to]) select.append(...ACCOUNTS.map((account) => new Option(account)));
  to.value = ACCOUNTS[1];
  // If both fields name the same account, change the other field.
  const keepApart = (changed: HTMLInputElement, other: HTMLInputElement): void => {
    if (other.value === changed.value) other.value = getNextAccount(changed.value as Account, 1);
  };
  from.addEventListener('change', () => keepApart(from, to));
  to.addEventListener('change', () => keepApart(to, from));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const [source, target] = [from.value as Account, to.value as Account];
    void teller.move({ from: source, to: target, euros: Number(euros.value) });
  });
}
