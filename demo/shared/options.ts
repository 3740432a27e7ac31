/** Parses the command line of the demos that follow references. */
import { cac } from 'cac';
import { WORKLOADS, type Workload } from './speculation/workload.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { numberBetween, oneOf, parseFlags, readInteger, readPath, type Flags } from './flags.ts';

export const BINDINGS = ['redblue', 'cassandra', 'postgres'] as const;
export const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
const LATENCIES = ['eu-us', 'none'] as const;

/**
 * The read strategies for Cassandra: 1, two reads through `cassandra-driver`; 2, a gateway beside
 * the coordinator; 3, a coordinator that supports preliminary views.
 */
export const WAYS = [1, 2, 3] as const;

export type Site = (typeof SITES)[number];
export type WanPreset = 'paper' | 'none';

/** Options that apply only to Cassandra. */
export interface CassandraOptions {
  readonly way: (typeof WAYS)[number];
  /** The site of the coordinator. */
  readonly coordinator: Site;
  /** The number of replicas, out of three, of a final read. */
  readonly readQuorum: 2 | 3;
}

export interface Options {
  readonly headless: boolean;
  readonly json: boolean;
  readonly binding: (typeof BINDINGS)[number];
  /** Set if and only if `binding` is `cassandra`. */
  readonly cassandra: CassandraOptions | undefined;
  /** The share of the paper's data that is loaded. */
  readonly scale: number;
  /** How long the contenders run together, in seconds. */
  readonly seconds: number;
  readonly workload: Workload;
  /** Requests in flight at a time. */
  readonly workers: number;
  readonly client: Site;
  readonly wan: WanPreset;
  readonly seed: number;
  readonly history: string | undefined;
  readonly port: number;
}

/** The settings that differ between demos. */
export interface Program {
  /** The command of the demo, for example `npm run demo:ads --`. */
  readonly command: string;
  readonly about: string;
  /** The share of the data that is loaded by default. */
  readonly scale: number;
  readonly port: number;
  /** The stores that it has. */
  readonly bindings: readonly (typeof BINDINGS)[number][];
}

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming the flag at fault
 */
export function parseOptions(argv: readonly string[], program: Program): Options | undefined {
  const cli = cac(`npm run ${program.command} --`);
  cli
    .command('[...none]', program.about)
    .option('--headless', 'Run with and without speculation, without a page, and print figures')
    .option('--json', 'Print the figures as one JSON object on stdout')
    .option('--binding <name>', `The store: ${program.bindings.join(', ')}`, { default: 'redblue' })
    .option('--scale <share>', "The share of the paper's data to load, up to 1", {
      default: program.scale,
    })
    .option('--seconds <n>', 'How long to measure', { default: 10 })
    .option('--workload <name>', 'YCSB mix: A (half updates), B (5 %), C (none)', { default: 'B' })
    .option('--workers <n>', 'Requests in flight at a time', { default: 4 })
    .option(
      '--client <site>',
      `The site that the client stands beside: ${SITES.join(', ')} (frankfurt; with cassandra, ireland)`,
    )
    .option(
      '--way <n>',
      'Cassandra: 1 two reads, 2 a gateway, 3 a coordinator with preliminary views (default: 3)',
    )
    .option('--latency <preset>', `Delays between the sites: ${LATENCIES.join(', ')}`, {
      default: 'eu-us',
    })
    .option('--seed <n>', 'Seeds the data and the choice of users', { default: 1 })
    .option('--history <file>', 'Write one JSON line per view and delivery')
    .option('--port <n>', 'The port of the page (0: any free one)', { default: program.port });
  const options = parseFlags(cli, argv);
  if (options === undefined) return undefined;
  const headless = options['headless'] === true;
  const binding = oneOf(options, 'binding', program.bindings);
  if (!headless && binding !== 'redblue') {
    throw new UsageError(`--binding ${binding} runs without a page: add --headless`);
  }
  const cassandra = cassandraOptions(options, binding);
  return {
    headless,
    json: options['json'] === true,
    binding,
    cassandra,
    scale: numberBetween(options, 'scale', { min: 0.0001, max: 1 }),
    seconds: numberBetween(options, 'seconds', { min: 0.5, max: 3600 }),
    workload: oneOf(options, 'workload', WORKLOADS),
    workers: readInteger(options, 'workers', { min: 1, max: 1024 }),
    client: oneOf(
      { client: binding === 'cassandra' ? 'ireland' : 'frankfurt', ...options },
      'client',
      SITES,
    ),
    wan: oneOf(options, 'latency', LATENCIES) === 'none' ? 'none' : 'paper',
    seed: readInteger(options, 'seed', { min: 0, max: 2 ** 32 - 1 }),
    history: readPath(options, 'history'),
    port: readInteger(options, 'port', { min: 0, max: 65_535 }),
  };
}

/**
 * Reads the options of Cassandra. By default, as in the paper, the coordinator is in Frankfurt and
 * reads one more replica.
 */
function cassandraOptions(
  options: Flags,
  binding: Options['binding'],
): CassandraOptions | undefined {
  if (binding !== 'cassandra') {
    if (options['way'] !== undefined) throw new UsageError('--way is for --binding cassandra');
    return undefined;
  }
  return {
    way: oneOf({ way: 3, ...options }, 'way', WAYS),
    coordinator: 'frankfurt',
    readQuorum: 2,
  };
}
