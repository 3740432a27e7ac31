/**
 * Makes the bars of results again, from the samples that they have and by the rules of today: `npm run judge:results --
 * NAME…`. For where rules have changed: no sample is touched, and nothing is measured. What is not made of samples alone
 * stays as it was.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { barsAgain } from './again.ts';
import type { Bar } from './harness/bars.ts';
import { provenance } from './harness/provenance.ts';

interface Report {
  readonly bars: readonly Bar[];
  readonly samples?: unknown;
}

const { date, commit } = provenance();
for (const name of process.argv.slice(2)) {
  const path = new URL(`results/${name}.json`, import.meta.url);
  const { samples, bars, ...report } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  const again = samples === undefined ? [] : barsAgain(name, samples);
  if (again.length === 0) {
    console.log(`${name}: stays as it is: its samples do not say enough`);
    continue;
  }
  const counted = bars.filter((bar) => !again.some((one) => one.name === bar.name));
  const judged = { ...report, judged: { date, commit }, bars: [...again, ...counted], samples };
  writeFileSync(path, `${JSON.stringify(judged, null, 2)}\n`);
  console.log(`${name}: ${again.map(({ name: bar, verdict }) => `${bar} ${verdict ?? ''}`.trim()).join(', ')}`);
}
