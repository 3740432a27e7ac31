/** Checks of command line values: each failure names the flag and what it takes. */
import { CorrectableError } from '../correctable/errors.ts';

export type Raw = Readonly<Record<string, unknown>>;

/** A command line that cannot be run, because of the flag of this name: `red-leader`, or `redLeader` as options have it. */
export function usageError(name: string, message: string): CorrectableError {
  const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return new CorrectableError('INVALID_ARGUMENT', `--${flag} ${message}; see --help`, { field: flag });
}

/** The text of a flag. @throws INVALID_ARGUMENT when it is missing */
export function text(options: Raw, flag: string): string {
  const value = options[flag];
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number') return String(value);
  throw usageError(flag, 'is required');
}

/** A whole number within bounds. @throws INVALID_ARGUMENT */
export function wholeNumber(options: Raw, flag: string, { min, max }: { min: number; max: number }): number {
  const value = options[flag];
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw usageError(flag, `takes a whole number from ${min} to ${max}, not "${String(value)}"`);
}

/** A comma-separated list of distinct names. @throws INVALID_ARGUMENT */
export function names(options: Raw, flag: string): readonly [string, ...string[]] {
  const [first, ...rest] = text(options, flag)
    .split(',')
    .map((name) => name.trim());
  const all = [first ?? '', ...rest] as const;
  if (all.some((name) => !/^[a-z][a-z0-9-]*$/.test(name))) {
    throw usageError(flag, 'takes names of lower-case letters, digits and "-", separated by commas');
  }
  if (new Set(all).size !== all.length) throw usageError(flag, 'names a site twice');
  return all;
}

/** Refuses flags that nobody declared. @throws INVALID_ARGUMENT */
export function refuseUnknown(options: Raw, known: ReadonlySet<string>): void {
  for (const flag of Object.keys(options)) {
    if (flag !== '--' && !known.has(flag)) throw usageError(flag, 'is not an option of this command');
  }
}
