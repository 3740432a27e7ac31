/** Checks of command line values: each failure names the flag and what it takes. */
import { CorrectableError } from '../correctable/errors.ts';
import { problemOfOrigin } from '../server/gateway/host/origins.ts';

const UNKNOWN = 'is not an option of this command';
const ENVIRONMENT_PREFIX = 'CORRECTABLES_';
const NEEDS_VALUE = 'needs a value';

export type Raw = Readonly<Record<string, unknown>>;

/**
 * A command line that cannot be run, because of the flag of this name: `red-leader`, or `redLeader` as options have it; of
 * the word that `<service>` stands for; or of a word as it was typed, as `--Json`.
 */
export function usageError(name: string, message: string): CorrectableError {
  const typed = typedOf(name);
  const field = typed.replaceAll(/^(-+|<)|>$/g, '');
  return new CorrectableError('INVALID_ARGUMENT', `${typed} ${message}; see --help`, { field });
}

/** As it is typed: a flag with its dashes, `<service>` as it is. */
export function typedOf(name: string): string {
  return /^[<-]/.test(name) || name.startsWith(ENVIRONMENT_PREFIX) ? name : flagOf(name);
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The name of a flag as options have it: `redLeader` for `--red-leader` and `--red-leader=irl`. */
function nameOf(word: string): string | undefined {
  if (!word.startsWith('--')) return undefined;
  return typedFlag(word)
    .slice('--'.length)
    .replaceAll(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase());
}

/** What stands before the value. */
function typedFlag(word: string): string {
  return word.replace(/=.*/s, '');
}

/** The text of a flag. @throws INVALID_ARGUMENT when it is missing or empty */
export function text(options: Raw, flag: string): string {
  const value = options[flag];
  if (typeof value === 'string' && value !== '') return value;
  throw usageError(flag, value === undefined ? 'is required' : NEEDS_VALUE);
}

/** A whole number within bounds. @throws INVALID_ARGUMENT */
export function wholeNumber(options: Raw, flag: string, { min, max }: { min: number; max: number }): number {
  const given = options[flag];
  const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw usageError(flag, `takes a whole number from ${min} to ${max}, not "${String(given)}"`);
}

/** A comma-separated list of distinct names. @throws INVALID_ARGUMENT */
export function names(options: Raw, flag: string): readonly [string, ...string[]] {
  const [first, ...rest] = list(options, flag);
  const all = [first ?? '', ...rest] as const;
  if (all.some((name) => !/^[a-z][a-z0-9-]*$/.test(name))) {
    throw usageError(flag, 'takes names of lower-case letters, digits and "-", separated by commas');
  }
  if (new Set(all).size !== all.length) throw usageError(flag, 'names a site twice');
  return all;
}

/** A comma-separated list of origins of pages, as browsers tell them; empty unless given. @throws INVALID_ARGUMENT */
export function origins(options: Raw, flag: string): readonly string[] {
  const all = options[flag] === undefined ? [] : list(options, flag);
  for (const given of all) {
    const problem = problemOfOrigin(given);
    if (problem !== undefined) throw usageError(flag, `takes origins as https://shop.example, ${problem}`);
  }
  return all;
}

function list(options: Raw, flag: string): string[] {
  return text(options, flag)
    .split(',')
    .map((each) => each.trim());
}

/** Words that begin with a dash are flags, whatever is before them, until one that says that there are no more. */
function flagsIn(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).filter((word) => word.startsWith('-'));
}

/** The parser takes what is behind a dot for a part of an option. @throws INVALID_ARGUMENT for a flag that has one */
export function refuseDots(argv: readonly string[]): void {
  const dotted = flagsIn(argv)
    .map(typedFlag)
    .find((flag) => flag.includes('.') && !/^-\d/.test(flag));
  if (dotted !== undefined) throw usageError(dotted, UNKNOWN);
}

/**
 * The options as they were typed: the parser makes numbers of what looks like one, as `007` and the empty text do.
 *
 * @param known the flags, each with whether it takes a value
 * @throws INVALID_ARGUMENT for a flag that is given twice, with a value that it does not take or without one that it does,
 * and one that nobody declared
 */
export function typedOptions(options: Raw, known: ReadonlyMap<string, boolean>, argv: readonly string[]): Raw {
  // Of what was typed: the parser drops some of what it does not know.
  for (const word of flagsIn(argv)) checkFlag(word, known, argv);
  const typed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (name === '--') continue;
    if (Array.isArray(value)) throw usageError(name, `is given ${value.length} times; give it once`);
    if (value === true && known.get(name) === true) throw usageError(name, NEEDS_VALUE);
    typed[name] = typeof value === 'number' ? (typedText(argv, name) ?? value) : value;
  }
  return typed;
}

function checkFlag(word: string, known: ReadonlyMap<string, boolean>, argv: readonly string[]): void {
  if (/^-\d/.test(word)) refuseBelowNone(argv);
  const name = nameOf(word) ?? '';
  const takesValue = known.get(name);
  if (takesValue === undefined) throw usageError(typedFlag(word), UNKNOWN);
  if (!takesValue && word.includes('=')) throw usageError(name, 'takes no value: give it as it is, or leave it out');
  // The parser would take the next word for it.
  if (word === `${typedFlag(word)}=`) throw usageError(name, NEEDS_VALUE);
}

/** A number below 0 reads as flags of one digit each. */
function refuseBelowNone(argv: readonly string[]): void {
  const at = argv.findIndex((word, index) => /^-\d/.test(word) && argv[index - 1]?.startsWith('--') === true);
  const flag = argv[at - 1];
  if (flag !== undefined) throw usageError(flag, `takes no number below 0, not "${argv[at]}"`);
}

/** What follows a flag; `undefined` where it was not given. */
function typedText(argv: readonly string[], name: string): string | undefined {
  const at = argv.findIndex((word) => nameOf(word) === name);
  const word = argv[at];
  if (word === undefined) return undefined;
  return word.includes('=') ? word.slice(word.indexOf('=') + 1) : argv[at + 1];
}

/** The environment variables of a flag, the first one first: `--red-leader` is `CORRECTABLES_RED_LEADER`. */
function variablesOf(name: string): readonly string[] {
  const own = `${ENVIRONMENT_PREFIX}${flagOf(name).slice('--'.length).replaceAll('-', '_').toUpperCase()}`;
  // Platforms that start containers specify the port to listen on like this.
  return name === 'port' ? [own, 'PORT'] : [own];
}

/**
 * Returns the options with what the environment specifies for flags that were not typed. A variable of a flag without a
 * value takes `true`, `1`, `false` or `0`; an empty one counts as not set.
 *
 * @param known the flags, each with whether it takes a value
 * @throws INVALID_ARGUMENT that names the variable
 */
export function withEnvironment(
  options: Raw,
  known: ReadonlyMap<string, boolean>,
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Raw {
  const typed = new Set(flagsIn(argv).map(nameOf));
  const found: Record<string, unknown> = { ...options };
  for (const [name, takesValue] of known) {
    const variable = variablesOf(name).find((each) => (environment[each] ?? '') !== '');
    if (variable === undefined || typed.has(name)) continue;
    const value = environment[variable] as string;
    if (takesValue) found[name] = value;
    else if (/^(true|1)$/i.test(value)) found[name] = true;
    else if (!/^(false|0)$/i.test(value)) throw usageError(variable, `must be true or false, got "${value}"`);
  }
  return found;
}

/** Returns the variable that gave the flag its value; `undefined` if it was typed or is the default. */
export function variableBehind(
  field: string,
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const name = nameOf(`--${field}`) ?? '';
  if (flagsIn(argv).map(nameOf).includes(name)) return undefined;
  return variablesOf(name).find((each) => (environment[each] ?? '') !== '');
}
