/** Checks of command line values: each error names the flag and the values that it accepts. */
import { CorrectableError } from '../correctable/errors.ts';
import type { OptionCheck } from '../correctable/options.ts';
import { describeOriginError } from '../server/gateway/context/origins.ts';

const ENVIRONMENT_PREFIX = 'CORRECTABLES_';
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

export function formatFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * Returns the text of a flag. `hint` completes the message if it is missing.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if it is missing or empty
 */
export function readText(options: RawOptions, flag: string, hint = ''): string {
  const value = options[flag];
  if (typeof value === 'string' && value !== '') return value;
  throw createUsageError(flag, value === undefined ? `is required${hint}` : NEEDS_VALUE);
}

/** Reads a number that `check` accepts. @throws INVALID_ARGUMENT */
export function readNumber(options: RawOptions, flag: string, check: OptionCheck): number {
  const input = options[flag];
  const value = typeof input === 'string' && /^\d+$/.test(input) ? Number(input) : input;
  const problem = check(value, flag);
  if (problem !== undefined) throw createUsageError(flag, problem);
  return value as number;
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
