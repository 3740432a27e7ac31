/** Checks of command line values: each failure names the flag and what it takes. */
import { CorrectableError } from '../correctable/errors.ts';
import { problemOfOrigin } from '../server/gateway/host/origins.ts';

export type Raw = Readonly<Record<string, unknown>>;

/**
 * A command line that cannot be run, because of the flag of this name: `red-leader`, or `redLeader` as options have it; or
 * of the word that `<service>` stands for.
 */
export function usageError(name: string, message: string): CorrectableError {
  const typed = typedOf(name);
  const field = typed.replaceAll(/^(--|<)|>$/g, '');
  return new CorrectableError('INVALID_ARGUMENT', `${typed} ${message}; see --help`, { field });
}

/** As it is typed: a flag with its dashes, `<service>` as it is. */
export function typedOf(name: string): string {
  return name.startsWith('<') ? name : flagOf(name);
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The text of a flag. @throws INVALID_ARGUMENT when it is missing or empty */
export function text(options: Raw, flag: string): string {
  const value = options[flag];
  if (typeof value === 'string' && value !== '') return value;
  throw usageError(flag, value === undefined ? 'is required' : 'needs a value');
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

/**
 * The options as they were typed: the parser makes numbers of what looks like one, as `007` and the empty text do.
 *
 * @param known the flags, each with whether it takes a value
 * @throws INVALID_ARGUMENT for a flag that is given twice, with a value that it does not take, and one that nobody declared
 */
export function typedOptions(options: Raw, known: ReadonlyMap<string, boolean>, argv: readonly string[]): Raw {
  const typed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (name === '--') continue;
    if (/^\d/.test(name)) refuseBelowNone(argv);
    const takesValue = known.get(name);
    if (takesValue === undefined) throw usageError(name, 'is not an option of this command');
    if (!takesValue && argv.some((word) => word.startsWith(`${flagOf(name)}=`)))
      throw usageError(name, 'takes no value: give it as it is, or leave it out');
    if (Array.isArray(value)) throw usageError(name, `is given ${value.length} times; give it once`);
    typed[name] = typeof value === 'number' ? (typedText(argv, flagOf(name)) ?? value) : value;
  }
  return typed;
}

/** A number below 0 reads as flags of one digit each. */
function refuseBelowNone(argv: readonly string[]): void {
  const at = argv.findIndex((word, index) => /^-\d/.test(word) && argv[index - 1]?.startsWith('--') === true);
  const flag = argv[at - 1];
  if (flag !== undefined) throw usageError(flag.slice(2), `takes no number below 0, not "${argv[at]}"`);
}

/** What follows a flag; `undefined` where it was not given. */
function typedText(argv: readonly string[], flag: string): string | undefined {
  const at = argv.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  return argv[at] === flag ? argv[at + 1] : argv[at]?.slice(flag.length + 1);
}
