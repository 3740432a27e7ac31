/** Reads the command line of a demo. */
import type { CAC } from 'cac';
import { UsageError } from '../../engines/usage-error.ts';

/** The values of the options, by name. */
export type Flags = Readonly<Record<string, unknown>>;

/**
 * Parses the arguments after the program's name.
 *
 * @returns what was given, or `undefined` when help was asked for and has been printed
 * @throws UsageError naming what the program does not take
 */
export function parseFlags(cli: CAC, argv: readonly string[]): Flags | undefined {
  cli.help();
  const { args, options } = cli.parse(['node', 'demo', ...argv], { run: false });
  if (options['help'] === true) return undefined;
  if (args.length > 0) throw new UsageError(`unexpected argument "${args[0]}"; see --help`);
  const known = new Set(cli.commands[0]?.options.map((option) => option.name));
  for (const name of Object.keys(options)) {
    if (name !== '--' && !known.has(name))
      throw new UsageError(`unknown option --${name}; see --help`);
  }
  return options;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

/**
 * Returns one of the values that an option accepts. Throws a `UsageError` for another value, as the
 * functions below do.
 */
export function oneOf<const T extends readonly (string | number)[]>(
  options: Flags,
  name: string,
  allowed: T,
): T[number] {
  const value = options[name] as T[number];
  if (allowed.includes(value)) return value;
  throw new UsageError(
    `${formatFlag(name)} takes one of ${allowed.join(', ')}, not "${String(value)}"`,
  );
}

/** Formats a flag as it is typed on the command line. */
export function formatFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)}`;
}

export function numberBetween(options: Flags, name: string, { min, max }: Range): number {
  const value = options[name];
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw new UsageError(
    `${formatFlag(name)} takes a number from ${min} to ${max}, not "${String(value)}"`,
  );
}

export function readInteger(options: Flags, name: string, range: Range): number {
  const value = options[name];
  if (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= range.min &&
    value <= range.max
  )
    return value;
  throw new UsageError(
    `${formatFlag(name)} takes an integer from ${range.min} to ${range.max}, not "${String(value)}"`,
  );
}

export function readPath(options: Flags, name: string): string | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new UsageError(`${formatFlag(name)} takes a path`);
}
