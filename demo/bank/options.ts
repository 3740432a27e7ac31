/** The command line of the bank, parsed and checked. */
import { cac } from 'cac';
import { UsageError } from '../../engines/usage-error.ts';
import { formatFlag, oneOf, parseFlags, readInteger, readPath } from '../shared/flags.ts';
import { DELAYS, type Delays } from './sites.ts';

export interface Options {
  readonly headless: boolean;
  readonly json: boolean;
  /** Whether to play the figures of the paper instead. */
  readonly figures: boolean;
  /** How many transfers each teller makes. */
  readonly transfers: number;
  readonly delays: Delays;
  readonly seed: number;
  /** How many partitions the accounts are in. */
  readonly partitions: number;
  /** How often the process of a site is killed; 0 if all sites are in one process. */
  readonly kill: number;
  readonly history: string | undefined;
  readonly port: number;
}

const HEADLESS_ONLY = ['kill', 'history'];

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming the flag at fault
 */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const cli = cac('npm run demo:bank --');
  cli
    .command(
      '[...none]',
      'Moves money by transactions from two sites; without --headless, opens the page for it',
    )
    .option(
      '--headless',
      'Let two tellers work without a page, print figures; exit 1 if the checker finds a fault',
    )
    .option('--json', 'Print the figures as one JSON object on stdout')
    .option(
      '--figures',
      'Instead, play Figures 3, 5 and 6 of the RedBlue paper and print the balances',
    )
    .option(
      '--transfers <n>',
      'How many transfers each teller makes; with --kill, more until the last site is back',
      {
        default: 100,
      },
    )
    .option('--delays <name>', `Delays between the sites: ${DELAYS.join(', ')}`, {
      default: 'measured',
    })
    .option('--seed <n>', 'Seeds the choice of accounts and amounts', { default: 1 })
    .option('--partitions <n>', 'With 2, Virginia orders the transfers between Cleo and Dan', {
      default: 1,
    })
    .option(
      '--kill <n>',
      'Run each site as a process, and kill one with -9 and start it again, n times',
    )
    .option(
      '--history <file>',
      'Write one JSON line per event, which npm run verify:bank -- FILE checks',
    )
    .option('--port <n>', 'The port of the page (0: any free one)', { default: 7440 });
  const options = parseFlags(cli, argv);
  if (options === undefined) return undefined;
  const headless = options['headless'] === true;
  for (const name of headless ? [] : HEADLESS_ONLY) {
    if (options[name] !== undefined)
      throw new UsageError(`${formatFlag(name)} is for --headless: add it`);
  }
  const delays = oneOf(options, 'delays', DELAYS);
  const kill =
    options['kill'] === undefined ? 0 : readInteger(options, 'kill', { min: 1, max: 1_000 });
  if (kill > 0 && delays !== 'measured') {
    throw new UsageError('--kill runs with the measured delays: leave out --delays');
  }
  return {
    headless,
    json: options['json'] === true,
    figures: options['figures'] === true,
    transfers: readInteger(options, 'transfers', { min: 1, max: 100_000 }),
    delays,
    seed: readInteger(options, 'seed', { min: 0, max: 2 ** 32 - 1 }),
    partitions: readInteger(options, 'partitions', { min: 1, max: 2 }),
    kill,
    history: readPath(options, 'history'),
    port: readInteger(options, 'port', { min: 0, max: 65_535 }),
  };
}
