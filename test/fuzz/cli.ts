/**
 * `npm run fuzz -- [--minutes N] [--seed S] [--frames N] [--json]`: hostile clients against
 * gateways. Exit 0 iff nothing was found; progress goes to stderr.
 */
import { UsageError } from '../../engines/usage-error.ts';
import { parseOptions, type Options } from './options.ts';
import { runFuzz, type Report } from './fuzz-run.ts';

const EXIT_FOUND = 1;
const EXIT_USAGE = 2;

try {
  const options = parseOptions(process.argv.slice(2));
  if (options !== undefined) await main(options);
} catch (error) {
  process.stderr.write(
    `fuzz: ${error instanceof UsageError ? error.message : String((error as Error)?.stack)}\n`,
  );
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FOUND;
}

async function main(options: Options): Promise<void> {
  const report = await runFuzz(options, (text) => process.stderr.write(`fuzz: ${text}\n`));
  const text = options.json ? `${JSON.stringify(report)}\n` : inWords(report);
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  // The channel to a process that died may keep this one awake.
  process.exit(report.findings.length === 0 ? 0 : EXIT_FOUND);
}

function inWords(report: Report): string {
  const { seed, frames, connections, requests, crashes, leaks, untrueOutcomes, findings } = report;
  const found = findings
    .map(({ kind, seed: at, what: description }) => `${kind} (--seed ${at}): ${description}\n`)
    .join('');
  const counts = `${frames} frames, ${connections} connections, ${requests} requests`;
  return `${found}seed ${seed}: ${counts}; ${crashes} crashes, ${leaks} leaks, ${untrueOutcomes} untrue outcomes\n`;
}
