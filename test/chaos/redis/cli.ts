/**
 * `npm run chaos -- --world redis`: exit 0 iff nothing was found; with `--control`, iff torn reads
 * were found.
 */
import { parseStormOptions } from './options.ts';
import { runStorm, type StormReport } from './storm.ts';

const EXIT_FOUND = 1;

/** Returns whether a command line asks for the causal store on Redis. */
export function isStorm(argv: readonly string[]): boolean {
  const at = argv.indexOf('--world');
  return argv.includes('--world=redis') || (at >= 0 && argv[at + 1] === 'redis');
}

export async function stormMain(
  argv: readonly string[],
  progress: (line: string) => void,
): Promise<void> {
  const options = parseStormOptions(argv);
  if (options === undefined) return;
  progress(`seed ${options.seed}`);
  const report = await runStorm(options, progress);
  const hasPassed = options.isControl ? hasTornReads(report) : report.faults.length === 0;
  const verdict = hasPassed ? 'passed' : 'failed';
  const text = options.json ? JSON.stringify({ verdict, ...report }) : inWords(report, verdict);
  await new Promise<void>((resolve) => process.stdout.write(`${text}\n`, () => resolve()));
  process.exitCode = hasPassed ? 0 : EXIT_FOUND;
}

export function hasTornReads({ found }: StormReport): boolean {
  return (found['torn'] ?? 0) > 0;
}

function inWords({ faults, ...report }: StormReport, verdict: string): string {
  const { seed, server, rounds, seconds, reads, writes, lostWrites, unplacedReads } = report;
  return [
    ...faults,
    `seed ${seed}, ${server}, ${rounds} rounds, ${seconds} s: ${reads} reads and ${writes} writes`,
    `outcomes: ${inCounts(report.outcomes)}`,
    `injected: ${inCounts(report.injected)}`,
    `alarms: ${inCounts(report.alarms)}`,
    `found: ${inCounts(report.found)}`,
    `${lostWrites} writes lost by Redis and reported, ${unplacedReads} values that could not be judged`,
    `${verdict}: ${faults.length} faults found`,
  ].join('\n');
}

function inCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
