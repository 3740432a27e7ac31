/** The command line of the cluster, parsed and checked. */
import { cac } from 'cac';
import { UsageError } from '../../engines/usage-error.ts';
import { SITES, type Site, type WanPreset } from '../../engines/wan.ts';
import {
  formatFlag,
  oneOf,
  parseFlags,
  readInteger,
  readPath,
  type Flags,
} from '../shared/flags.ts';
import { TICKETS_MAX } from '../tickets/contract.ts';

export interface Options {
  readonly headless: boolean;
  readonly json: boolean;
  readonly tickets: number;
  readonly threshold: number;
  /** The site that is killed during a headless sale. */
  readonly kill: Site;
  /** The site that is frozen during a headless sale. */
  readonly freeze: Site;
  readonly wan: WanPreset;
  /** The engine that orders red operations. */
  readonly engine: (typeof ENGINES)[number];
  readonly keep: string | undefined;
  readonly history: string | undefined;
  readonly port: number;
}

const ENGINES = ['built-in', 'etcd'] as const;
const LATENCIES = ['eu-us', 'none'] as const;
const HEADLESS_ONLY = ['json', 'history', 'tickets', 'threshold', 'kill', 'freeze'];
const DEFAULTS = { tickets: 500, threshold: 20, kill: 'frankfurt', freeze: 'virginia' };

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming the flag at fault
 */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const cli = cac('npm run demo:cluster --');
  const sites = SITES.join(', ');
  cli
    .command(
      '[...none]',
      'Runs three sites as processes, and a ticket shop that sells on while one of them fails',
    )
    .option(
      '--headless',
      'Sell without a page, kill one site and freeze another meanwhile, print figures',
    )
    .option('--json', 'Print the figures as one JSON line on stdout')
    .option('--history <file>', 'Write one JSON line per event of the sale')
    .option('--tickets <n>', `How many tickets there are (default: ${DEFAULTS.tickets})`)
    .option(
      '--threshold <n>',
      `Say yes early only while more than this many are left (default: ${DEFAULTS.threshold})`,
    )
    .option(
      '--kill <site>',
      `The site to kill with -9 and start again: ${sites} (default: ${DEFAULTS.kill})`,
    )
    .option(
      '--freeze <site>',
      `The site to freeze for a while: ${sites} (default: ${DEFAULTS.freeze})`,
    )
    .option('--latency <preset>', `Delays between the sites: ${LATENCIES.join(', ')}`, {
      default: 'eu-us',
    })
    .option(
      '--engine <name>',
      'What orders red operations: a site (built-in), or etcd, started for this',
      {
        default: 'built-in',
      },
    )
    .option(
      '--keep <dir>',
      'Keep data and logs of the sites in this directory; default: a temporary one, removed',
    )
    .option('--port <n>', 'The port of the page (0: any free one)', { default: 7400 });
  const typed = parseFlags(cli, argv);
  if (typed === undefined) return undefined;
  const headless = typed['headless'] === true;
  for (const name of headless ? [] : HEADLESS_ONLY) {
    if (typed[name] !== undefined)
      throw new UsageError(`${formatFlag(name)} is for a sale without a page: add --headless`);
  }
  const options: Flags = { ...DEFAULTS, ...typed };
  return {
    headless,
    json: options['json'] === true,
    tickets: readInteger(options, 'tickets', { min: 1, max: TICKETS_MAX }),
    threshold: readInteger(options, 'threshold', { min: 0, max: TICKETS_MAX }),
    kill: oneOf(options, 'kill', SITES),
    freeze: oneOf(options, 'freeze', SITES),
    wan: oneOf(options, 'latency', LATENCIES) === 'none' ? 'none' : 'paper',
    engine: oneOf(options, 'engine', ENGINES),
    keep: readPath(options, 'keep'),
    history: readPath(options, 'history'),
    port: readInteger(options, 'port', { min: 0, max: 65_535 }),
  };
}
