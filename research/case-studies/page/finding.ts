/** What a case study shows, in a sentence computed from the latencies. */
import { capitalize } from '../../../demo/shared/page/format.ts';
import type { Cell } from './state.ts';

/** The name of a request in words: "buyConfirm" is "Buy confirm". */
export function formatRequest(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  return capitalize(words);
}

/** Which requests the nearest site answers alone, and which wait for the order of all sites. */
export function formatFinding(cells: readonly Cell[]): string {
  const waiting = namesOf(cells.filter(({ red }) => red !== null));
  const nearby = namesOf(cells).filter((name) => !waiting.includes(name));
  if (nearby.length === 0) return 'The users have only just begun.';
  const near = `${nearby.length} kinds of requests are answered by the nearest site, in ${typical(cells, 'blue', nearby)} ms`;
  if (waiting.length === 0) return `${near}; none has waited for the other sites so far.`;
  const which = waiting.map(formatRequest).join(', ');
  return `${near}. Only ${which} ${waiting.length === 1 ? 'waits' : 'wait'} for all sites, ${typical(cells, 'red', waiting)} ms.`;
}

function namesOf(cells: readonly Cell[]): readonly string[] {
  return [...new Set(cells.map(({ request }) => request))];
}

/** The median over requests and sites of their median latencies. */
function typical(cells: readonly Cell[], color: 'blue' | 'red', names: readonly string[]): string {
  const medians = cells
    .filter(({ request }) => names.includes(request))
    .flatMap((cell) => cell[color]?.p50 ?? [])
    .toSorted((a, b) => a - b);
  const median = medians[Math.floor(medians.length / 2)] ?? 0;
  return median < 9.95 ? median.toFixed(1) : median.toFixed(0);
}
