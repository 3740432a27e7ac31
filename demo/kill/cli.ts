/** `npm run demo:kill`: what was acknowledged is there after `kill -9`, once. */
import { readFile, writeFile } from 'node:fs/promises';
import { cac } from 'cac';
import { figuresOf, parseHistory } from './history.ts';
import { killAndRestart } from './run.ts';
import { UsageError } from '../../engines/usage-error.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const DEFAULT_KILLS = 20;
const DEFAULT_PER_KILL = 500;

type Raw = Readonly<Record<string, unknown>>;

try {
  const options = parse(process.argv);
  if (options === undefined) process.exitCode = 0;
  else if (options['check'] !== undefined) await check(path(options, 'check') as string);
  else await run(options);
} catch (error) {
  console.error(`demo:kill: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
}

async function run(options: Raw): Promise<void> {
  const kills = readInteger(options, 'kills');
  const perKill = readInteger(options, 'perKill');
  const historyPath = path(options, 'history');
  const settings = { kills, perKill, data: path(options, 'data') };
  const { report, history } = await killAndRestart(settings, (line) => process.stderr.write(`${line}\n`));
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

function parse(argv: readonly string[]): Raw | undefined {
  const cli = cac('npm run demo:kill --');
  const command = cli
    .command('[...none]', 'Kills a server of three sites under load (kill -9), restarts it, and counts what was lost')
    .option('--kills <n>', 'How often', { default: DEFAULT_KILLS })
    .option('--per-kill <n>', 'Operations to be acknowledged between two kills', { default: DEFAULT_PER_KILL })
    .option('--json', 'Print the figures as one JSON line')
    .option('--history <file>', 'Write one JSON line per operation sent, acknowledged and found')
    .option('--check <file>', 'Only recompute the figures from such a file')
    .option('--data <dir>', 'The data directory, kept afterwards; default: a temporary one');
  cli.help();
  const { args, options } = cli.parse([...argv], { run: false });
  if (options['help'] === true) return undefined;
  if (args.length > 0) throw new UsageError(`unexpected argument "${args[0]}"; see --help`);
  const known = new Set(command.options.map(({ name }) => name));
  for (const name of Object.keys(options)) {
    if (name !== '--' && !known.has(name)) throw new UsageError(`unknown option --${name}; see --help`);
  }
  return options;
}

function readInteger(options: Raw, name: string): number {
  const value = options[name];
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  throw new UsageError(`--${name} takes an integer from 1 on, not "${String(value)}"`);
}

function path(options: Raw, name: string): string | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new UsageError(`--${name} takes a path`);
}
