/** Shows what each red log has counted, and whether strong reads show whole follows. */
import { byId, make, setText } from '../../shared/page/dom.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import type { CountsByRegion, LogCounts } from '../log-counts.ts';
import { PARTITIONS, REGION_NAMES, REGIONS } from '../regions.ts';
import type { PageState } from './page-state.ts';
import { formatHeld, formatVerdict } from './texts.ts';

interface Row {
  readonly name: string;
  readonly title: string;
  readonly format: (counts: LogCounts) => string;
}

const ROWS: readonly Row[] = [
  { name: 'committed', title: 'Committed', format: ({ committed }) => String(committed) },
  { name: 'globals', title: 'of them between regions', format: ({ globals }) => String(globals) },
  {
    name: 'rejected',
    title: 'Rejected, and run again',
    format: ({ rejected }) => String(rejected),
  },
  { name: 'standing', title: 'Holds now', format: ({ standing }) => String(standing) },
  { name: 'held', title: 'A row was held, on average', format: formatHeld },
];

/** @returns a function that shows the present state of the logs */
export function createLogsView(state: PageState): () => void {
  const verdict = byId('verdict', HTMLParagraphElement);
  const body = make('tbody', '');
  byId('logs', HTMLTableElement).append(createHead(), body);
  const showRows = ROWS.map((row) => createRow(body, row));
  return () => {
    setText(verdict, formatVerdict(state.audits));
    verdict.className = `verdict ${state.audits.halves > 0 ? 'bad' : 'good'}`;
    if (state.counts !== undefined) for (const showRow of showRows) showRow(state.counts);
  };
}

function createHead(): HTMLTableSectionElement {
  const names = REGIONS.map((region) => {
    const leader = `ordered in ${formatSite(PARTITIONS[region].leader)}`;
    const name = make('th', '', REGION_NAMES[region], make('span', 'second', leader));
    name.scope = 'col';
    return name;
  });
  return make('thead', '', make('tr', '', make('td', ''), ...names));
}

function createRow(
  body: HTMLTableSectionElement,
  { name, title, format }: Row,
): (counts: CountsByRegion) => void {
  const head = make('th', '', title);
  head.scope = 'row';
  const cells = REGIONS.map((region) => {
    const cell = make('td', '', '–');
    cell.dataset['log'] = region;
    return { region, cell };
  });
  const row = make('tr', '', head, ...cells.map(({ cell }) => cell));
  row.dataset['count'] = name;
  body.append(row);
  return (counts) => {
    for (const { region, cell } of cells) setText(cell, format(counts[region]));
  };
}
