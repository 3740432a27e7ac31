/** The command line of the news reader, parsed and checked. */
import { cac } from 'cac';
import { UsageError } from '../../engines/usage-error.ts';
import { oneOf, parseFlags, readInteger } from '../shared/flags.ts';
import { DELAYS, type Delays } from './sites.ts';

export interface Options {
  readonly headless: boolean;
  readonly json: boolean;
  /** How many conversations Ann and Bob have. */
  readonly conversations: number;
  readonly delays: Delays;
  /** Keep comments on a Redis Cluster at each site. */
  readonly hasRedis: boolean;
  readonly port: number;
}

const PORT_DEFAULT = 7450;
const PORT_MAX = 65_535;

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming the flag or variable at fault
 */
export function parseOptions(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
): Options | undefined {
  const cli = cac('npm run demo:news --');
  cli
    .command(
      '[...none]',
      'Reads news and comments at three sites; without --headless, opens the page for it',
    )
    .option(
      '--headless',
      'Read without a page, print figures and a verdict; exit 1 if causal order was broken',
    )
    .option('--json', 'Print the figures as one JSON object on stdout')
    .option('--conversations <n>', 'How often Ann asks and Bob answers', { default: 5 })
    .option('--redis', 'Keep the comments on a Redis Cluster at each site, which is started here')
    .option(
      '--delays <name>',
      `Delays between the sites: ${DELAYS.join(', ')}. Default: slow, measured if headless`,
    )
    .option(
      '--port <n>',
      `The port of the page (0: any free one); or PORT. Default: ${PORT_DEFAULT}`,
    );
  const flags = parseFlags(cli, argv);
  if (flags === undefined) return undefined;
  const headless = flags['headless'] === true;
  return {
    headless,
    json: flags['json'] === true,
    conversations: readInteger(flags, 'conversations', { min: 1, max: 1_000 }),
    delays: oneOf({ delays: headless ? 'measured' : 'slow', ...flags }, 'delays', DELAYS),
    hasRedis: flags['redis'] === true,
    port: readPort(flags['port'], environment['PORT']),
  };
}

function readPort(flag: unknown, variable: string | undefined): number {
  if (flag !== undefined) return readInteger({ port: flag }, 'port', { min: 0, max: PORT_MAX });
  if (variable === undefined || variable === '') return PORT_DEFAULT;
  const port = /^\d+$/.test(variable) ? Number(variable) : Number.NaN;
  if (port <= PORT_MAX) return port;
  throw new UsageError(`PORT takes an integer from 0 to ${PORT_MAX}, not "${variable}"`);
}
