/** Checks of command line values: each failure names the flag and what it takes. */
import { CorrectableError } from '../correctable/errors.ts';
import { findClosestName } from '../correctable/unknown-option.ts';
import { describeOriginError } from '../server/gateway/context/origins.ts';

const ENVIRONMENT_PREFIX = 'CORRECTABLES_';
/**
 * Kubernetes sets `CORRECTABLES_PORT` to an address in each container beside a service named
 * `correctables`.
 */
const UNSET = /^(tcp:.*)?$/;
const NEEDS_VALUE = 'needs a value';

export type RawOptions = Readonly<Record<string, unknown>>;

/**
 * A usage error. `name` is a flag (`red-leader` or `redLeader`), a word (`<service>`), or a word as
 * typed (`--Json`).
 */
export function createUsageError(name: string, message: string): CorrectableError {
  const typed = formatFlagOrArgument(name);
  const field = typed.replaceAll(/^(-+|<)|>$/g, '');
  return new CorrectableError(
    'INVALID_ARGUMENT',
    `${typed} ${message}${/[.?]$/.test(message) ? '' : '.'} See --help.`,
    { field },
  );
}

/** Returns the name as it is typed: a flag with its dashes, `<service>` unchanged. */
export function formatFlagOrArgument(name: string): string {
  return /^[<-]/.test(name) || name.startsWith(ENVIRONMENT_PREFIX) ? name : formatFlag(name);
}

function formatFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * The name of a flag as options have it: `redLeader` for `--red-leader` and `--red-leader=ireland`.
 */
function parseFlagName(word: string): string | undefined {
  if (!word.startsWith('--')) return undefined;
  return parseFlag(word)
    .slice('--'.length)
    .replaceAll(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase());
}

function parseFlag(word: string): string {
  return word.replace(/=.*/s, '');
}

/** Returns the text of a flag. @throws INVALID_ARGUMENT if it is missing or empty */
export function readText(options: RawOptions, flag: string): string {
  const value = options[flag];
  if (typeof value === 'string' && value !== '') return value;
  throw createUsageError(flag, value === undefined ? 'is required' : NEEDS_VALUE);
}

/** Reads an integer within bounds. @throws INVALID_ARGUMENT */
export function readInteger(
  options: RawOptions,
  flag: string,
  { min, max }: { min: number; max: number },
): number {
  const input = options[flag];
  const value = typeof input === 'string' && /^\d+$/.test(input) ? Number(input) : input;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max)
    return value;
  throw createUsageError(flag, `must be an integer from ${min} to ${max}, got "${String(input)}"`);
}

/** Reads a comma-separated list of distinct names. @throws INVALID_ARGUMENT */
export function readNames(options: RawOptions, flag: string): readonly [string, ...string[]] {
  const [first, ...rest] = readList(options, flag);
  const all = [first ?? '', ...rest] as const;
  if (all.some((name) => !/^[a-z][a-z0-9-]*$/.test(name))) {
    throw createUsageError(
      flag,
      'takes names of lower-case letters, digits and "-", separated by commas',
    );
  }
  if (new Set(all).size !== all.length) throw createUsageError(flag, 'names a site twice');
  return all;
}

/**
 * Reads a comma-separated list of origins, as browsers send them. Default: none. @throws
 * INVALID_ARGUMENT
 */
export function readOrigins(options: RawOptions, flag: string): readonly string[] {
  const all = options[flag] === undefined ? [] : readList(options, flag);
  for (const value of all) {
    const problem = describeOriginError(value);
    if (problem !== undefined)
      throw createUsageError(flag, `takes origins as https://shop.example, ${problem}`);
  }
  return all;
}

function readList(options: RawOptions, flag: string): string[] {
  return readText(options, flag)
    .split(',')
    .map((item) => item.trim());
}

/** Returns the words that begin with a dash, up to `--`. */
function findFlags(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).filter((word) => word.startsWith('-'));
}

/** Rejects flags with a dot, which the parser would split. @throws INVALID_ARGUMENT */
export function rejectDots(argv: readonly string[]): void {
  const dotted = findFlags(argv)
    .map(parseFlag)
    .find((flag) => flag.includes('.') && !/^-\d/.test(flag));
  if (dotted !== undefined) throw createUsageError(dotted, 'is an unknown flag');
}

/**
 * Returns the options as they were typed. The parser turns texts like `007` and the empty text into
 * numbers.
 *
 * @param known the flags, each with whether it takes a value
 * @throws INVALID_ARGUMENT if a flag is unknown or typed twice, lacks its value, or has a value
 *   that it does not take
 */
export function readTypedOptions(
  options: RawOptions,
  known: ReadonlyMap<string, boolean>,
  argv: readonly string[],
): RawOptions {
  // Check what was typed: the parser drops some flags that it does not know.
  for (const word of findFlags(argv)) checkFlag(word, known, argv);
  const typed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (name === '--') continue;
    if (Array.isArray(value))
      throw createUsageError(name, `was passed ${value.length} times; pass it once`);
    if (value === true && known.get(name) === true) throw createUsageError(name, NEEDS_VALUE);
    typed[name] = typeof value === 'number' ? (findTypedText(argv, name) ?? value) : value;
  }
  return typed;
}

function checkFlag(
  word: string,
  known: ReadonlyMap<string, boolean>,
  argv: readonly string[],
): void {
  if (/^-\d/.test(word)) rejectNegativeNumbers(argv);
  const name = parseFlagName(word) ?? '';
  const takesValue = known.get(name);
  if (takesValue === undefined)
    throw createUsageError(parseFlag(word), describeUnknownFlag(name, known));
  if (!takesValue && word.includes('='))
    throw createUsageError(name, 'takes no value: give it as it is, or leave it out');
  // The parser would take the next word for it.
  if (word === `${parseFlag(word)}=`) throw createUsageError(name, NEEDS_VALUE);
}

function describeUnknownFlag(name: string, known: ReadonlyMap<string, boolean>): string {
  const closest = findClosestName(name, [...known.keys()]);
  return `is an unknown flag${closest === undefined ? '' : `. Did you mean ${formatFlag(closest)}?`}`;
}

/** A number below 0 reads as flags of one digit each. */
function rejectNegativeNumbers(argv: readonly string[]): void {
  const at = argv.findIndex(
    (word, index) => /^-\d/.test(word) && argv[index - 1]?.startsWith('--') === true,
  );
  const flag = argv[at - 1];
  if (flag !== undefined)
    throw createUsageError(flag, `takes no number below 0, not "${argv[at]}"`);
}

/** Returns the text after a flag, or `undefined` if it was not typed. */
function findTypedText(argv: readonly string[], name: string): string | undefined {
  const at = argv.findIndex((word) => parseFlagName(word) === name);
  const word = argv[at];
  if (word === undefined) return undefined;
  return word.includes('=') ? word.slice(word.indexOf('=') + 1) : argv[at + 1];
}

/**
 * The environment variables of a flag, the first one first: `--red-leader` is
 * `CORRECTABLES_RED_LEADER`.
 */
export function getVariableNames(name: string): readonly string[] {
  const own = `${ENVIRONMENT_PREFIX}${formatFlag(name).slice('--'.length).replaceAll('-', '_').toUpperCase()}`;
  // Platforms that start containers specify the port to listen on like this.
  return name === 'port' ? [own, 'PORT'] : [own];
}

function findSetVariable(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  return getVariableNames(name).find((item) => !UNSET.test(environment[item] ?? ''));
}

/**
 * Returns the options with what the environment specifies for flags that were not typed. A variable
 * of a flag without a value takes `true`, `1`, `false` or `0`; an empty one counts as not set.
 *
 * @param known the flags, each with whether it takes a value
 * @throws INVALID_ARGUMENT that names the variable
 */
export function withEnvironment(
  options: RawOptions,
  known: ReadonlyMap<string, boolean>,
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): RawOptions {
  const typed = new Set(findFlags(argv).map(parseFlagName));
  const found: Record<string, unknown> = { ...options };
  for (const [name, takesValue] of known) {
    const variable = findSetVariable(name, environment);
    if (variable === undefined || typed.has(name)) continue;
    const value = environment[variable] as string;
    if (takesValue) found[name] = value;
    else if (/^(true|1)$/i.test(value)) found[name] = true;
    else if (!/^(false|0)$/i.test(value))
      throw createUsageError(variable, `must be true or false, got "${value}"`);
  }
  return found;
}

/**
 * Returns the variable that gave the flag its value; `undefined` if it was typed or is the default.
 */
export function findVariableFor(
  field: string,
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const name = parseFlagName(`--${field}`) ?? '';
  if (findFlags(argv).map(parseFlagName).includes(name)) return undefined;
  return findSetVariable(name, environment);
}
