/** The command line of the social network, parsed and checked. */
import { cac } from 'cac';
import { numberBetween, parseFlags, readInteger } from '../shared/flags.ts';

export interface Options {
  readonly headless: boolean;
  readonly json: boolean;
  /** How long to measure with a log for each region, and as long with one log. */
  readonly seconds: number;
  readonly usersPerRegion: number;
  readonly seed: number;
  readonly port: number;
}

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming the flag at fault
 */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const cli = cac('npm run demo:social --');
  cli
    .command(
      '[...none]',
      'A social network over two regions, each with a red log; without --headless, opens its page',
    )
    .option(
      '--headless',
      'Let users work without a page, print figures; exit 1 if a strong read shows half a follow',
    )
    .option('--json', 'Print the figures as one JSON object on stdout')
    .option('--seconds <n>', 'How long to measure, with a log for each region and with one log', {
      default: 10,
    })
    .option('--users <n>', 'How many users each region has', { default: 100 })
    .option('--seed <n>', 'Seeds who does what', { default: 1 })
    .option('--port <n>', 'The port of the page (0: any free one)', { default: 7460 });
  const options = parseFlags(cli, argv);
  if (options === undefined) return undefined;
  return {
    headless: options['headless'] === true,
    json: options['json'] === true,
    seconds: numberBetween(options, 'seconds', { min: 1, max: 3600 }),
    usersPerRegion: readInteger(options, 'users', { min: 2, max: 10_000 }),
    seed: readInteger(options, 'seed', { min: 0, max: 2 ** 32 - 1 }),
    port: readInteger(options, 'port', { min: 0, max: 65_535 }),
  };
}
