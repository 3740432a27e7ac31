/**
 * Runs one benchmark: raw results and plots go to files, figures and verdicts to stdout, and a
 * missed floor is an error.
 */
import { isBroken } from './harness/goals.ts';
import type { Bench, Outcome, Settings } from './harness/bench.ts';
import { provenance, type Provenance } from './harness/provenance.ts';
import { savePlots } from './plots/save.ts';
import { writeResult, type Report } from './harness/results.ts';

/** The options of the command line. */
export interface Asked extends Omit<Settings, 'progress'> {
  /** Whether to print one JSON object instead of tables. */
  readonly json: boolean;
}

/**
 * Runs a benchmark and returns the exit code: 1 if a floor is missed. Writes no files if the run is
 * quick.
 */
export async function runBench(bench: Bench, { json, ...settings }: Asked): Promise<0 | 1> {
  const progress = (text: string): void => void process.stderr.write(`${bench.name}: ${text}\n`);
  const from = provenance();
  const outcome = await bench.run({ ...settings, progress });
  const report = reportOf(bench.name, from, outcome);
  progress(`got again by ${report.command}, at ${report.commit}`);
  if (!settings.quick) save(outcome.name ?? bench.name, report, outcome);
  if (json) console.log(JSON.stringify(report, null, 2));
  else print(report);
  const broken = report.bars.filter(isBroken);
  for (const { name, value, low, high, floor } of broken) {
    console.error(
      `${bench.name}: floor missed: ${name} = ${value} (${low} to ${high}), ${floor} has to hold`,
    );
  }
  return broken.length === 0 ? 0 : 1;
}

function reportOf(
  bench: string,
  from: Omit<Provenance, 'flags'>,
  { rounds, rows, bars, versions, flags = [] }: Outcome,
): Report {
  return { bench, ...from, versions: { ...from.versions, ...versions }, flags, rounds, rows, bars };
}

function save(name: string, report: Report, { samples }: Outcome): void {
  writeResult(name, { ...report, samples });
  for (const file of savePlots(name)) process.stderr.write(`${name}: plot ${file}\n`);
}

function print({ rows, bars }: Pick<Outcome, 'rows' | 'bars'>): void {
  console.table(rows);
  for (const { name, value, low, high, unit, floor, aim, verdict } of bars) {
    const between = low === high ? '' : ` (${low} to ${high})`;
    const goals = [floor === null ? [] : `floor ${floor}`, aim === null ? [] : `aim ${aim}`]
      .flat()
      .join(', ');
    console.log(
      `${name} = ${value}${between} ${unit}${verdict === null ? '' : `; ${goals}: ${verdict}`}`,
    );
  }
}
