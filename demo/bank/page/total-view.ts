/** Shows the total of all accounts, and the outcomes of the transfers. */
import { byId, make, setText } from '../../shared/page/dom.ts';
import { formatMs } from '../../shared/page/format.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import { percentilesOf } from '../../tickets/verify/percentiles.ts';
import type { Bank } from './bank.ts';
import { countReceipts, formatVerdict, type Counts } from './texts.ts';

const COUNTS: Readonly<Record<keyof Counts, string>> = {
  confirmed: 'confirmed',
  corrected: 'of them corrected',
  takenBack: 'taken back',
  refused: 'refused at once',
};

/** @returns a function that shows the present state of the bank */
export function createTotalView(bank: Bank): () => void {
  const total = byId('total', HTMLParagraphElement);
  const verdict = byId('verdict', HTMLParagraphElement);
  const showCounts = createCounts();
  const showMedians = bank.tellers.map(createMedians);
  return () => {
    const { totals, tellers } = bank;
    setText(total, totals === undefined ? '–' : `€${totals.latest}`);
    setText(verdict, formatVerdict(totals));
    verdict.className = `verdict ${totals !== undefined && totals.changed > 0 ? 'bad' : 'good'}`;
    showCounts(countReceipts(tellers.flatMap(({ receipts }) => receipts)));
    for (const show of showMedians) show();
  };
}

function createCounts(): (counts: Counts) => void {
  const values = new Map<keyof Counts, HTMLElement>();
  for (const name of Object.keys(COUNTS) as (keyof Counts)[]) {
    const value = make('dd', '', '0');
    value.dataset['count'] = name;
    values.set(name, value);
    byId('counts', HTMLDListElement).append(make('div', '', make('dt', '', COUNTS[name]), value));
  }
  return (counts) => {
    for (const [name, value] of values) setText(value, String(counts[name]));
  };
}

function createMedians({ site, receipts }: Bank['tellers'][number]): () => void {
  const name = make('th', '', formatSite(site));
  name.scope = 'row';
  const [early, confirmed] = [make('td', 'early', '–'), make('td', 'good', '–')];
  byId('medians', HTMLTableSectionElement).append(make('tr', '', name, early, confirmed));
  const show = (cell: HTMLElement, durations: readonly number[]): void => {
    const { p50 } = percentilesOf(durations);
    setText(cell, p50 === null ? '–' : formatMs(p50));
  };
  return () => {
    show(
      early,
      receipts.flatMap((receipt) => receipt.early?.ms ?? []),
    );
    show(
      confirmed,
      receipts.flatMap((receipt) => receipt.confirmed?.ms ?? []),
    );
  };
}
