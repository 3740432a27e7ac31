/** The command line of a storm, parsed and checked. */
import { cac } from 'cac';
import { parseFlags, readPath } from '../../../demo/shared/flags.ts';
import { REDIS_SERVERS, type RedisServerName } from '../../../engines/redis/programs.ts';
import { UsageError } from '../../../engines/usage-error.ts';
import { WANS, type WanPreset } from '../../../engines/wan.ts';
import { numberOf } from '../../fuzz/options.ts';
import {
  listDefaultFaults,
  listPossibleFaults,
  STORM_FAULT_NAMES,
  type StormFaultName,
} from './faults.ts';

export interface StormOptions {
  /** Read transactions. */
  readonly reads: number;
  readonly seed: number;
  readonly server: RedisServerName;
  readonly wan: WanPreset;
  readonly gatewaysPerSite: number;
  /** Of a command: the largest random delay. */
  readonly jitterMs: number;
  readonly faults: readonly StormFaultName[];
  readonly isControl: boolean;
  /** Where to write what happened, a line of JSON for each event. */
  readonly history: string | undefined;
  readonly json: boolean;
}

const SEED_MAX = 2 ** 31 - 1;

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming what is at fault
 */
export function parseStormOptions(argv: readonly string[]): StormOptions | undefined {
  const cli = cac('npm run chaos -- --world redis');
  cli
    .command(
      '[...none]',
      'Disturb real Redis Clusters at two sites while clients use the causal store, and check all reads',
    )
    .option('--world <name>', 'redis')
    .option('--reads <n>', 'How many read transactions', { default: 10_000 })
    .option(
      '--seed <n>',
      'Draw the faults of the first round from this seed, of the next one from the seed after it',
    )
    .option('--server <name>', REDIS_SERVERS.join(' or '), { default: REDIS_SERVERS[0] })
    .option('--wan <preset>', `Delays between the sites: ${WANS.join(', ')}`, { default: WANS[0] })
    .option('--gateways <n>', 'How many gateways of each site', { default: 2 })
    .option('--jitter <ms>', 'Delay each command by up to this long', { default: 20 })
    .option(
      '--faults <list>',
      `Inject these faults alone, or none: ${STORM_FAULT_NAMES.join(', ')}`,
    )
    .option('--control', 'Use plain GET and SET instead; exit 0 only if torn reads are found')
    .option('--history <file>', 'Write the history into this file, a line of JSON for each event')
    .option('--json', 'Print one JSON object on stdout');
  const options = parseFlags(cli, argv);
  if (options === undefined) return undefined;
  const whole = (name: string, min: number, max: number): number | undefined =>
    numberOf(options, name, { min, max, what: 'an integer', whole: true });
  const server = oneOf('server', options['server'], REDIS_SERVERS);
  return {
    reads: whole('reads', 1, 1e9) as number,
    seed: whole('seed', 0, SEED_MAX) ?? Math.floor(Math.random() * SEED_MAX),
    server,
    wan: oneOf('wan', options['wan'], WANS),
    gatewaysPerSite: whole('gateways', 1, 8) as number,
    jitterMs: whole('jitter', 0, 1_000) as number,
    faults: parseFaults(options['faults'], server),
    isControl: options['control'] === true,
    history: readPath(options, 'history'),
    json: options['json'] === true,
  };
}

function parseFaults(list: unknown, server: RedisServerName): readonly StormFaultName[] {
  if (list === undefined) return listDefaultFaults(server);
  if (list === 'none') return [];
  return String(list)
    .split(',')
    .map((name) => oneOf('faults', name, listPossibleFaults(server)));
}

function oneOf<T extends string>(flag: string, value: unknown, all: readonly T[]): T {
  const found = all.find((item) => item === value);
  if (found === undefined)
    throw new UsageError(`--${flag} takes ${all.join(', ')}, not "${String(value)}"`);
  return found;
}
