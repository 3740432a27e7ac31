/** The command line of the histories, parsed and checked. */
import { cac } from 'cac';
import { UsageError } from '../../engines/usage-error.ts';
import { numberOf } from '../fuzz/options.ts';

export interface Options {
  readonly engine: string;
  readonly minutes: number;
  readonly seed: number;
  readonly json: boolean;
  /** Where to write each call down. */
  readonly history: string | undefined;
}

const SEED_MAX = 2 ** 31 - 1;
const MINUTES_MAX = 24 * 60;

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming what is at fault
 */
export function parseOptions(
  argv: readonly string[],
  engines: readonly string[],
): Options | undefined {
  const cli = cac('npm run histories --');
  cli
    .command(
      '[engine]',
      `Drives a real engine (${engines.join(', ')}) through faults, and judges the reported views`,
    )
    .option('--minutes <n>', 'How long', { default: 1 })
    .option(
      '--seed <n>',
      'What everything is drawn from: begins with the round that a finding with this seed is of',
    )
    .option('--history <file>', 'Write each call into this file, a line of JSON each')
    .option('--json', 'Print one JSON object on stdout');
  cli.help();
  const { args, options } = cli.parse(['node', 'histories', ...argv], { run: false });
  if (options['help'] === true) return undefined;
  const [engine, ...rest] = args;
  if (engine === undefined || !engines.includes(engine)) {
    throw new UsageError(
      `say which engine: ${engines.join(' or ')}${engine === undefined ? '' : `, not "${engine}"`}`,
    );
  }
  if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0]}"; see --help`);
  const known = new Set(cli.commands[0]?.options.map((option) => option.name));
  for (const name of Object.keys(options)) {
    if (name !== '--' && !known.has(name))
      throw new UsageError(`unknown option --${name}; see --help`);
  }
  return {
    engine,
    minutes:
      numberOf(options, 'minutes', { min: 0.01, max: MINUTES_MAX, what: 'a number of minutes' }) ??
      1,
    seed:
      numberOf(options, 'seed', { min: 0, max: SEED_MAX, what: 'an integer', whole: true }) ??
      Math.floor(Math.random() * SEED_MAX),
    json: options['json'] === true,
    history: options['history'] === undefined ? undefined : String(options['history']),
  };
}
