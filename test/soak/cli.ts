/**
 * `npm run soak -- [--minutes N] [--rate N] [--json]`: three nodes of a cluster under steady load.
 * Exit 0 iff nothing grows; progress goes to stderr.
 */
import { cac } from 'cac';
import { parseFlags } from '../../demo/shared/flags.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { ENGINES, parseEngine } from '../chaos/options.ts';
import { numberOf } from '../fuzz/options.ts';
import { describe, runSoak } from './run.ts';

const EXIT_FOUND = 1;
const EXIT_USAGE = 2;
const MINUTES_MAX = 7 * 24 * 60;
const RATE_MAX = 10_000;

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(
    `soak: ${error instanceof UsageError ? error.message : String((error as Error)?.stack)}\n`,
  );
  process.exit(error instanceof UsageError ? EXIT_USAGE : EXIT_FOUND);
}

async function main(argv: readonly string[]): Promise<void> {
  const cli = cac('npm run soak --');
  cli
    .command(
      '[...none]',
      'Run three nodes of a cluster under steady load, and fit what they hold over time',
    )
    .option(
      '--minutes <n>',
      'How long; from 30 on the slopes themselves are judged, else their intervals',
      {
        default: 60,
      },
    )
    .option('--rate <n>', 'Operations a second, of all clients together', { default: 400 })
    .option('--engine <name>', `What keeps the red log: ${ENGINES.join(', ')}`, { default: 'etcd' })
    .option('--json', 'Print one JSON object on stdout');
  const options = parseFlags(cli, argv);
  if (options === undefined) return;
  const report = await runSoak(
    {
      minutes:
        numberOf(options, 'minutes', { min: 0.2, max: MINUTES_MAX, what: 'a number of minutes' }) ??
        60,
      operationsPerSecond:
        numberOf(options, 'rate', { min: 1, max: RATE_MAX, what: 'operations a second' }) ?? 400,
      engine: parseEngine(String(options['engine'])),
    },
    (line) => process.stderr.write(`soak: ${line}\n`),
  );
  const lines = [...report.slopes.map(describe), ...report.faults.map((fault) => `FAULT ${fault}`)];
  process.stdout.write(
    options['json'] === true ? `${JSON.stringify(report)}\n` : `${lines.join('\n')}\n`,
  );
  process.exit(report.faults.length > 0 ? EXIT_FOUND : 0);
}
