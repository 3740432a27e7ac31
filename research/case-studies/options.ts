/**
 * The command line of the case studies, parsed and checked. Which mixes there are, the study says.
 */
import { cac } from 'cac';
import { UsageError } from '../../engines/usage-error.ts';
import { SITES } from './sites.ts';
import { STUDIES, type StudyName } from './studies.ts';

const LATENCIES = ['ec2', 'none'] as const;

export interface Options {
  readonly study: StudyName;
  readonly headless: boolean;
  readonly json: boolean;
  /** The name of a mix of the study; its first one where none is given. */
  readonly mix: string | undefined;
  /** How many of the paper's five sites. */
  readonly sites: number;
  /** At each site. */
  readonly users: number;
  /** The share of the paper's data. */
  readonly scale: number;
  readonly seconds: number;
  /** The share of the study's time between two requests. */
  readonly think: number;
  readonly wan: 'paper' | 'none';
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
  const cli = cac('npm run case-study --');
  cli
    .command(
      '[study]',
      `A case study of the RedBlue paper at several sites: ${STUDIES.join(', ')}; with a page`,
    )
    .option(
      '--headless',
      'Run for a while without a page, check the invariants at every site, print figures',
    )
    .option('--json', 'Print the figures as one JSON object on stdout')
    .option('--mix <name>', "The mix of requests (default: the study's first mix)")
    .option('--sites <n>', `How many sites, in the order of the paper: ${SITES.join(', ')}`, {
      default: 3,
    })
    .option('--users <n>', 'Emulated users at each site', { default: 10 })
    .option('--scale <share>', "The share of the paper's data to load, up to 1", { default: 0.02 })
    .option('--seconds <n>', 'How long the users work, with --headless', { default: 10 })
    .option('--think <share>', 'The share of the time that users look at a page; 0: none', {
      default: 0.1,
    })
    .option('--latency <preset>', `Delays between the sites: ${LATENCIES.join(', ')}`, {
      default: 'ec2',
    })
    .option('--seed <n>', 'Seeds the data and the users', { default: 1 })
    .option('--port <n>', 'The port of the page (0: any free one)', { default: 7430 });
  cli.help();
  const { args, options } = cli.parse(['node', 'case', ...argv], { run: false });
  if (options['help'] === true) return undefined;
  const known = new Set(cli.commands[0]?.options.map((option) => option.name));
  for (const name of Object.keys(options)) {
    if (name !== '--' && !known.has(name))
      throw new UsageError(`unknown option --${name}; see --help`);
  }
  if (args.length > 1) throw new UsageError(`unexpected argument "${args[1]}"; see --help`);
  return {
    study: studyNamed(args[0]),
    headless: options['headless'] === true,
    json: options['json'] === true,
    mix: text(options, 'mix'),
    sites: readInteger(options, 'sites', { min: 1, max: SITES.length }),
    users: readInteger(options, 'users', { min: 1, max: 1000 }),
    scale: numberBetween(options, 'scale', { min: 0.0001, max: 1 }),
    seconds: numberBetween(options, 'seconds', { min: 0.5, max: 3600 }),
    think: numberBetween(options, 'think', { min: 0, max: 10 }),
    wan: oneOf(options, 'latency', LATENCIES) === 'none' ? 'none' : 'paper',
    seed: readInteger(options, 'seed', { min: 0, max: 2 ** 32 - 1 }),
    port: readInteger(options, 'port', { min: 0, max: 65_535 }),
  };
}

/**
 * The name of one of the mixes, the first where none is given.
 *
 * @throws UsageError naming those that there are
 */
export function mixNamed(
  value: string | undefined,
  mixes: Readonly<Record<string, unknown>>,
): string {
  const names = Object.keys(mixes);
  const name = value ?? names[0];
  if (name !== undefined && names.includes(name)) return name;
  throw new UsageError(`--mix takes one of ${names.join(', ')}, not "${String(name)}"`);
}

type Raw = Readonly<Record<string, unknown>>;
interface Range {
  readonly min: number;
  readonly max: number;
}

function studyNamed(value: string | undefined): StudyName {
  const study = STUDIES.find((name) => name === value);
  if (study !== undefined) return study;
  const named = value === undefined ? '' : `, not "${value}"`;
  throw new UsageError(`name a case study: ${STUDIES.join(', ')}${named}; see --help`);
}

function text(options: Raw, name: string): string | undefined {
  const value = options[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new UsageError(`--${name} takes a name, not "${String(value)}"`);
}

function oneOf<const T extends readonly string[]>(
  options: Raw,
  name: string,
  allowed: T,
): T[number] {
  const value = options[name];
  if (typeof value === 'string' && allowed.includes(value)) return value;
  throw new UsageError(`--${name} takes one of ${allowed.join(', ')}, not "${String(value)}"`);
}

function numberBetween(options: Raw, name: string, { min, max }: Range): number {
  const value = options[name];
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw new UsageError(`--${name} takes a number from ${min} to ${max}, not "${String(value)}"`);
}

function readInteger(options: Raw, name: string, { min, max }: Range): number {
  const value = options[name];
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max)
    return value;
  throw new UsageError(`--${name} takes an integer from ${min} to ${max}, not "${String(value)}"`);
}
