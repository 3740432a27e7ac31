/** The table below the timelines: what all requests so far have cost. */
import { WAYS, type Way } from '../speculation/application.ts';
import { byId, make, setText } from './dom.ts';
import { formatMs } from './format.ts';
import type { Heat } from './side-by-side-run.ts';

const LABELS: Readonly<Record<Way, string>> = {
  baseline: 'Without early answers',
  correctable: 'With early answers',
};

/** Returns a function that shows the sums of heats. Call it after each heat. */
export function sumsView(): (heats: readonly Heat<unknown>[]) => void {
  const body = byId('sums', HTMLTableSectionElement);
  const rows = WAYS.map((way) => ({ way, cells: addRow(body, way) }));
  const verdict = byId('verdict', HTMLParagraphElement);
  return (heats) => {
    const medians = new Map<Way, number>();
    for (const { way, cells } of rows) {
      const times = heats.map(({ traces }) => traces[way].deliveredMs ?? 0).sort((a, b) => a - b);
      const inVain = heats.reduce((sum, { traces }) => sum + Math.max(0, traces[way].runs - 1), 0);
      const at = (share: number): number | undefined => times[Math.ceil(share * times.length) - 1];
      const duration = (ms: number | undefined): string => (ms === undefined ? '–' : formatMs(ms));
      const values = [String(times.length), duration(at(0.5)), duration(at(0.95)), String(inVain)];
      for (const [n, cell] of cells.entries()) setText(cell, values[n] as string);
      medians.set(way, at(0.5) ?? 0);
    }
    const [plain, speculated] = [
      medians.get('baseline') as number,
      medians.get('correctable') as number,
    ];
    const whole = (ms: number): string => ms.toFixed(0);
    if (heats.length > 0)
      setText(
        verdict,
        `Delivered after ${whole(speculated)} ms instead of ${whole(plain)}: ${share(speculated / plain - 1)}.`,
      );
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
