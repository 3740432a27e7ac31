/** The command line, parsed and checked. */
import { cac } from 'cac';
import { parseFlags } from '../../demo/shared/flags.ts';
import { UsageError } from '../../engines/usage-error.ts';
import { numberOf } from '../fuzz/options.ts';
import { FAULT_KINDS, type FaultKind } from './faults/plan.ts';

/** What keeps the red log. */
export const ENGINES = ['built-in', 'etcd'] as const;
export type Engine = (typeof ENGINES)[number];

/** What rounds are made of. */
const ROUND_KINDS = ['mixed', 'bank'] as const;
export type RoundKind = (typeof ROUND_KINDS)[number];

export interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly json: boolean;
  readonly history: string | undefined;
  /** Where each process writes its error output. */
  readonly logs: string | undefined;
  /** Judge this history, and run nothing. */
  readonly check: string | undefined;
  readonly isInjected: boolean;
  /** Inject this bug alone. */
  readonly only: string | undefined;
  readonly isEmbedded: boolean;
  readonly engine: Engine;
  /** With 2, another red log orders the red operations on a part of the rows. */
  readonly partitions: number;
  readonly faults: ReadonlySet<FaultKind>;
  readonly rounds: ReadonlySet<RoundKind>;
}

const SEED_MAX = 2 ** 31 - 1;
const MINUTES_MAX = 24 * 60;
const ALL_FAULTS = Object.keys(FAULT_KINDS) as FaultKind[];

/**
 * Parses the arguments after the program's name.
 *
 * @returns the options, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming what is at fault
 */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const cli = cac('npm run chaos --');
  cli
    .command(
      '[...none]',
      'Disturb the processes of three sites while clients work, and check the recorded history',
    )
    .option(
      '--world <name>',
      'redblue, or redis: the causal store on Redis, whose options `--world redis --help` lists',
      {
        default: 'redblue',
      },
    )
    .option('--minutes <n>', 'How long, in rounds of half a minute', { default: 5 })
    .option(
      '--seed <n>',
      'Draw the first round from this seed, the next one from the seed after it',
    )
    .option('--faults <list>', `Draw these faults alone: ${ALL_FAULTS.join(', ')}`)
    .option('--rounds <list>', `Play these rounds alone: ${ROUND_KINDS.join(', ')}`)
    .option('--history <file>', 'Write the history into this file, a line of JSON for each event')
    .option(
      '--logs <dir>',
      'Write the error output of each process into this directory, which has to exist',
    )
    .option('--check <file>', 'Check a history that was written before, and run nothing')
    .option('--injected', 'Inject each bug in turn; exit 0 only if each is caught')
    .option('--only <bug>', 'With --injected: this bug alone')
    .option('--embedded', 'Run the three sites in one process')
    .option('--engine <name>', `What keeps the red log: ${ENGINES.join(', ')}`, {
      default: ENGINES[0],
    })
    .option('--partitions <n>', 'With 2, another red log orders a part of the rows', { default: 1 })
    .option('--json', 'Print one JSON object on stdout');
  const options = parseFlags(cli, argv);
  if (options === undefined) return undefined;
  if (options['world'] !== 'redblue')
    throw new UsageError(`--world takes redblue or redis, not "${String(options['world'])}"`);
  const text = (name: string): string | undefined =>
    options[name] === undefined ? undefined : String(options[name] as unknown);
  const partitions =
    numberOf(options, 'partitions', {
      min: 1,
      max: 2,
      what: 'a number of red logs',
      whole: true,
    }) ?? 1;
  if (partitions > 1 && options['embedded'] === true)
    throw new UsageError('--embedded has one red log: leave out --partitions');
  return {
    minutes:
      numberOf(options, 'minutes', { min: 0.01, max: MINUTES_MAX, what: 'a number of minutes' }) ??
      5,
    seed:
      numberOf(options, 'seed', { min: 0, max: SEED_MAX, what: 'an integer', whole: true }) ??
      Math.floor(Math.random() * SEED_MAX),
    json: options['json'] === true,
    history: text('history'),
    logs: text('logs'),
    check: text('check'),
    isInjected: options['injected'] === true,
    only: text('only'),
    isEmbedded: options['embedded'] === true,
    partitions,
    engine: parseEngine(text('engine'), options['embedded'] === true),
    faults: parseList('faults', text('faults'), ALL_FAULTS),
    rounds: parseList('rounds', text('rounds'), ROUND_KINDS),
  };
}

/** @throws UsageError for the name of no engine */
export function parseEngine(name: string | undefined, isEmbedded = false): Engine {
  const engine = ENGINES.find((known) => known === name);
  if (engine === undefined)
    throw new UsageError(`--engine takes ${ENGINES.join(' or ')}, not "${name}"`);
  if (engine === 'etcd' && isEmbedded)
    throw new UsageError('--embedded runs its own red log: leave out --engine etcd');
  return engine;
}

function parseList<T extends string>(
  flag: string,
  list: string | undefined,
  all: readonly T[],
): ReadonlySet<T> {
  if (list === undefined) return new Set(all);
  return new Set(
    list.split(',').map((name) => {
      const kind = all.find((known) => known === name);
      if (kind === undefined)
        throw new UsageError(`--${flag} takes ${all.join(', ')}, not "${name}"`);
      return kind;
    }),
  );
}
