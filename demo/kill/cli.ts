/**
 * `npm run demo:kill`: shows that acknowledged operations survive `kill -9`, and take effect once.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cac } from 'cac';
import { figuresOf, parseHistory } from './history.ts';
import { killAndRestart } from './run.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { parseFlags, readInteger, readPath, type Flags } from '../shared/flags.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const DEFAULT_KILLS = 20;
const DEFAULT_PER_KILL = 500;
const FROM_ONE = { min: 1, max: 1_000_000 };

try {
  const options = parse(process.argv);
  if (options === undefined) process.exitCode = 0;
  else if (options['check'] !== undefined) await check(readPath(options, 'check') as string);
  else await run(options);
} catch (error) {
  console.error(`demo:kill: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}

async function run(options: Flags): Promise<void> {
  const kills = readInteger(options, 'kills', FROM_ONE);
  const perKill = readInteger(options, 'perKill', FROM_ONE);
  const historyPath = readPath(options, 'history');
  const settings = { kills, perKill, data: readPath(options, 'data') };
  const { report, history } = await killAndRestart(settings, (line) =>
    process.stderr.write(`${line}\n`),
  );
  if (historyPath !== undefined) {
    await writeFile(historyPath, `${history.map((line) => JSON.stringify(line)).join('\n')}\n`);
  }
  console.log(JSON.stringify(report, null, options['json'] === true ? undefined : 2));
  if (report.lost > 0 || report.repeated > 0) process.exitCode = EXIT_FAILED;
}

/** Recomputes the figures from a history. */
async function check(historyPath: string): Promise<void> {
  const figures = figuresOf(parseHistory(await readFile(historyPath, 'utf8')));
  console.log(JSON.stringify(figures));
  if (figures.lost > 0 || figures.repeated > 0) process.exitCode = EXIT_FAILED;
}

function parse(argv: readonly string[]): Flags | undefined {
  const cli = cac('npm run demo:kill --');
  cli
    .command(
      '[...none]',
      'Kills a server of three sites under load (kill -9), restarts it, and counts what was lost',
    )
    .option('--kills <n>', 'How often', { default: DEFAULT_KILLS })
    .option('--per-kill <n>', 'Operations to be acknowledged between two kills', {
      default: DEFAULT_PER_KILL,
    })
    .option('--json', 'Print the figures as one JSON line')
    .option('--history <file>', 'Write one JSON line per operation sent, acknowledged and found')
    .option('--check <file>', 'Only recompute the figures from such a file')
    .option('--data <dir>', 'The data directory, kept afterwards; default: a temporary one');
  return parseFlags(cli, argv.slice(2));
}
