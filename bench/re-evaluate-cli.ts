/**
 * Computes the bars of results again, from their samples and by the present rules: `npm run
 * verify:results -- NAME…`. Use it when rules have changed. Samples are not changed, and nothing is
 * measured. Bars that cannot be computed from samples alone stay unchanged.
 */
import { reEvaluateGoals } from './re-evaluate.ts';
import { provenance } from './harness/provenance.ts';
import { readResult, writeResult } from './harness/results.ts';

const { date, commit } = provenance();
for (const name of process.argv.slice(2)) {
  const { samples, bars, rows, ...report } = readResult(name);
  const again = samples === undefined ? [] : reEvaluateGoals(name, samples);
  if (again.length === 0) {
    console.log(`${name}: stays as it is: its samples do not say enough`);
    continue;
  }
  const counted = bars.filter((bar) => !again.some((item) => item.name === bar.name));
  writeResult(name, {
    ...report,
    judged: { date, commit },
    rows,
    bars: [...again, ...counted],
    samples,
  });
  console.log(
    `${name}: ${again.map(({ name: bar, verdict }) => `${bar} ${verdict ?? ''}`.trim()).join(', ')}`,
  );
}
