/**
 * The list of purchases, newest first: what each view showed and when, and which answer the
 * customer got.
 */
import { byId, make } from '../../shared/page/dom.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import { apology } from './failures.ts';
import { formatItem, formatMs } from './format.ts';
import type { Row, SaleRecord } from './sale-record.ts';

/**
 * The maximum number of listed purchases, so that drawing does not become slower during a long
 * sale.
 */
const ROWS_MAX = 60;

interface Line {
  readonly element: HTMLTableRowElement;
  shown: Row;
}

export type ShowPurchases = () => void;

export function purchaseListView(shop: { readonly sale: SaleRecord }): ShowPurchases {
  const body = byId('purchases', HTMLTableSectionElement);
  const lines = new Map<string, Line>();
  let event = '';

  const show = (row: Row): void => {
    const line = lines.get(row.customer);
    if (line === undefined) {
      const element = make('tr', row.byHand ? 'mine' : '', ...cells(row));
      body.prepend(element);
      lines.set(row.customer, { element, shown: row });
    } else if (line.shown !== row) {
      line.element.replaceChildren(...cells(row));
      line.shown = row;
    }
  };

  return () => {
    const { sale } = shop;
    if (sale.event !== event) {
      event = sale.event;
      lines.clear();
      body.replaceChildren();
    }
    for (const row of [...sale.rows.values()].slice(-ROWS_MAX)) show(row);
    for (const [customer, { element }] of lines) {
      if (lines.size <= ROWS_MAX) break;
      element.remove();
      lines.delete(customer);
    }
  };
}

function cells(row: Row): HTMLTableCellElement[] {
  const head = make(
    'td',
    '',
    row.byHand ? 'you' : row.customer,
    second(row.path.map(formatSite).join(' → ')),
  );
  return [
    head,
    viewCell(row, row.preliminaryItem, row.preliminaryMs),
    answerCell(row),
    finalCell(row),
  ];
}

function viewCell(
  { failure }: Row,
  item: string | null | undefined,
  ms: number | undefined,
): HTMLTableCellElement {
  if (item === undefined || ms === undefined)
    return make('td', '', second(failure === undefined ? '…' : '–'));
  return make('td', '', formatItem(item), second(formatMs(ms)));
}

function finalCell(row: Row): HTMLTableCellElement {
  const { answer: reported, finalItem, finalMs, failure } = row;
  if (reported === 'yes' && finalItem === null && finalMs !== undefined) {
    return make('td', '', make('span', 'bad', 'taken back'), second(formatMs(finalMs)));
  }
  if (failure !== undefined) return make('td', '', make('span', 'bad', apology(failure)));
  return viewCell(row, finalItem, finalMs);
}

function answerCell({
  answer: reported,
  early,
  answeredMs,
  retries,
  failure,
}: Row): HTMLTableCellElement {
  const tries = retries === undefined ? '' : `try ${retries + 1}`;
  if (reported === undefined || answeredMs === undefined) {
    if (failure !== undefined) return make('td', '', second('–'));
    return make(
      'td',
      '',
      make('span', 'quiet', tries === '' ? '' : 'busy'),
      second(tries === '' ? '…' : `${tries}…`),
    );
  }
  const answer = make(
    'span',
    early === true ? 'early' : 'good',
    `${reported}, ${early === true ? 'early' : 'confirmed'}`,
  );
  return make(
    'td',
    '',
    answer,
    second(tries === '' ? formatMs(answeredMs) : `${formatMs(answeredMs)}, ${tries}`),
  );
}

function second(text: string): HTMLElement {
  return make('span', 'second', text);
}
