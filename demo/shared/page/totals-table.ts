/** The table below the timelines: what all requests so far have cost. */
import { WAYS, type Way } from '../speculation/application.ts';
import { byId, make, setText } from './dom.ts';
import { formatMs } from './format.ts';
import type { Heat } from './side-by-side-run.ts';

const LABELS: Readonly<Record<Way, string>> = { baseline: 'Without speculation', correctable: 'With speculation' };

/** Shows the sums of heats; call it again after each. */
export function sumsView(): (heats: readonly Heat<unknown>[]) => void {
  const body = byId('sums', HTMLTableSectionElement);
  const rows = WAYS.map((way) => ({ way, cells: addRow(body, way) }));
  const verdict = byId('verdict', HTMLParagraphElement);
  return (heats) => {
    const means = new Map<Way, number>();
    for (const { way, cells } of rows) {
      const times = heats.map(({ traces }) => traces[way].deliveredMs ?? 0).sort((a, b) => a - b);
      const inVain = heats.reduce((sum, { traces }) => sum + Math.max(0, traces[way].runs - 1), 0);
      const at = (share: number): string => {
        const value = times[Math.ceil(share * times.length) - 1];
        return value === undefined ? '–' : formatMs(value);
      };
      const values = [String(times.length), at(0.5), at(0.95), String(inVain)];
      for (const [n, cell] of cells.entries()) setText(cell, values[n] as string);
      means.set(way, times.reduce((sum, ms) => sum + ms, 0) / times.length);
    }
    const [plain, speculated] = [means.get('baseline') as number, means.get('correctable') as number];
    if (heats.length > 0) setText(verdict, `Speculation changes the mean time by ${share(speculated / plain - 1)}.`);
  };
}

function addRow(body: HTMLElement, way: Way): readonly HTMLElement[] {
  const head = make('th', '', LABELS[way]);
  head.scope = 'row';
  const cells = ['requests', 'median', 'p95', 'in-vain'].map((name) => {
    const cell = make('td', '', '–');
    cell.dataset['sum'] = `${way}-${name}`;
    return cell;
  });
  body.append(make('tr', '', head, ...cells));
  return cells;
}

function share(fraction: number): string {
  const percent = Math.round(fraction * 100);
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent)} %`;
}
