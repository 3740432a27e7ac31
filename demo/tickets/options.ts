/** The command line of the ticket shop, parsed and checked. */
import { cac } from 'cac';
import { UsageError } from '../../engines/usage-error.ts';
import { oneOf, parseFlags, readInteger, readPath, type Flags } from '../shared/flags.ts';

export const BINDINGS = ['redblue', 'zookeeper', 'postgres'] as const;
export const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
/** How tickets are sold: from a queue in the red order, or by rights that each site holds. */
export const STOCKS = ['queue', 'rights'] as const;
const LATENCIES = ['eu-us', 'none'] as const;

/** The sites of the retailers, in turn. */
const SPREAD = ['ireland', 'frankfurt', 'virginia', 'frankfurt'] as const;
/**
 * PostgreSQL: beside replicas. A retailer beside the primary gets final views at once, and sells
 * almost everything.
 */
const BESIDE_REPLICAS = ['ireland', 'frankfurt'] as const;
const RETAILERS_MAX = 64;
const DEFAULT_RETAILERS = 4;

export type Site = (typeof SITES)[number];

export interface Options {
  readonly headless: boolean;
  readonly json: boolean;
  readonly binding: (typeof BINDINGS)[number];
  readonly stock: (typeof STOCKS)[number];
  readonly tickets: number;
  readonly threshold: number;
  /** The site of each retailer. */
  readonly client: readonly Site[];
  readonly wan: 'paper' | 'none';
  readonly history: string | undefined;
  readonly port: number;
}

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming the flag at fault
 */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const cli = cac('npm run demo:tickets --');
  cli
    .command(
      '[...none]',
      'Sells tickets from a geo-replicated queue; without --headless, opens the page for it',
    )
    .option('--headless', 'Run one sale and its baseline without a page, print figures')
    .option('--json', 'Print the figures as one JSON object on stdout')
    .option('--binding <name>', `The store: ${BINDINGS.join(', ')}`, { default: 'redblue' })
    .option('--stock <kind>', `How tickets are sold: ${STOCKS.join(', ')}`, { default: 'queue' })
    .option(
      '--retailers <n>',
      `How many retailers sell at once (${DEFAULT_RETAILERS} unless --client sets it)`,
    )
    .option('--tickets <n>', 'How many tickets there are', { default: 500 })
    .option('--threshold <n>', 'Say yes early only while more than this many tickets are left', {
      default: 20,
    })
    .option(
      '--client <sites>',
      `The site of each retailer: ${SITES.join(', ')}; one for all of them (${SPREAD.join()}; with postgres, ${BESIDE_REPLICAS.join()})`,
    )
    .option('--latency <preset>', `Delays between the sites: ${LATENCIES.join(', ')}`, {
      default: 'eu-us',
    })
    .option('--history <file>', 'Write one JSON line per event of the sale with early confirmation')
    .option('--port <n>', 'The port of the page (0: any free one)', { default: 7400 });
  const options = parseFlags(cli, argv);
  if (options === undefined) return undefined;
  const headless = options['headless'] === true;
  const binding = oneOf(options, 'binding', BINDINGS);
  if (!headless && binding !== 'redblue') {
    throw new UsageError(`--binding ${binding} sells without a page: add --headless`);
  }
  const stock = oneOf(options, 'stock', STOCKS);
  if (stock === 'rights' && binding !== 'redblue') {
    throw new UsageError(`--stock rights is what --binding redblue can do, not ${binding}`);
  }
  return {
    headless,
    json: options['json'] === true,
    binding,
    stock,
    tickets: readInteger(options, 'tickets', { min: 1, max: 100_000 }),
    threshold: readInteger(options, 'threshold', { min: 0, max: 100_000 }),
    client: placement(options, binding === 'postgres' ? BESIDE_REPLICAS : SPREAD),
    wan: oneOf(options, 'latency', LATENCIES) === 'none' ? 'none' : 'paper',
    history: readPath(options, 'history'),
    port: readInteger(options, 'port', { min: 0, max: 65_535 }),
  };
}

/** Returns the site of each retailer. */
function placement(options: Flags, defaultSites: readonly Site[]): readonly Site[] {
  const client = options['client'];
  const names = client === undefined ? defaultSites : String(client).split(',');
  const sites = names.map((name) => siteOf(name));
  const isList = client !== undefined && sites.length > 1;
  if (options['retailers'] === undefined) {
    if (sites.length > RETAILERS_MAX)
      throw new UsageError(`--client takes ${RETAILERS_MAX} sites at most`);
    return isList ? sites : repeated(sites, DEFAULT_RETAILERS);
  }
  const retailers = readInteger(options, 'retailers', { min: 1, max: RETAILERS_MAX });
  if (!isList || sites.length === retailers) return repeated(sites, retailers);
  throw new UsageError(
    `--client names ${sites.length} sites for --retailers ${retailers}: leave one of the two out`,
  );
}

function siteOf(name: string): Site {
  const site = SITES.find((item) => item === name);
  if (site !== undefined) return site;
  throw new UsageError(
    `--client takes one of ${SITES.join(', ')} for each retailer, not "${name}"`,
  );
}

function repeated(sites: readonly Site[], count: number): readonly Site[] {
  return Array.from({ length: count }, (_, n) => sites[n % sites.length] as Site);
}
