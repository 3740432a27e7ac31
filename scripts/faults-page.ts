/**
 * `npm run faults`: writes docs/operate/store-faults.md from the columns of test/engines/faults. So
 * the page says of each fault what the tests of the real engines have shown.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COLUMNS } from '../test/engines/faults/columns/index.ts';
import { FAULTS, type Column, type Fault } from '../test/engines/faults/support/faults.ts';

const PAGE = fileURLToPath(new URL('../docs/operate/store-faults.md', import.meta.url));

const INTRODUCTION = `# What happens when a store fails

Look up your store to see what your callers get during a fault, and how soon the binding works again. No fault in these tables
needs a restart of your process. Each row is a test on real servers: \`npm run test:engines -- faults\` runs them.

In every row, these rules hold:

- No acknowledged write is lost, unless the server itself has lost it, as the row states.
- An error is \`retryable\` only if nothing was done. If a write may have been made, the error is \`UNKNOWN\`.
- No view is older than its level allows. If a view cannot be proven to be current, you get an error instead.

[Errors and cancellation](../guides/errors-and-cancellation.md) explains the codes.
[Retries and idempotency](../guides/retries-and-idempotency.md) explains how to retry a write once.
`;

/** Returns the text of the page. */
export function createFaultsPage(): string {
  return [INTRODUCTION, ...Object.values(COLUMNS).map(formatColumn)].join('\n');
}

function formatColumn({ store, page, cells }: Column): string {
  const rows: string[] = [];
  const absent: string[] = [];
  for (const fault of Object.keys(FAULTS) as Fault[]) {
    const cell = cells[fault];
    if ('absentBecause' in cell) absent.push(`- ${FAULTS[fault]}: ${cell.absentBecause}`);
    else rows.push(`| ${FAULTS[fault]} | ${cell.meanwhile} | ${cell.recovery} |`);
  }
  const lines = [
    `## ${store}`,
    '',
    `[The binding](../${page}) has the options.`,
    '',
    '| fault | while it lasts | how it works again |',
    '|---|---|---|',
    ...rows,
    '',
  ];
  if (absent.length > 0) lines.push('These faults do not apply:', '', ...absent, '');
  return lines.join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, createFaultsPage());
