/**
 * Reads a command line with the flags of a command.
 *
 * Values stay texts: a number like `007` or a port that is too large is reported as it was typed. A
 * flag may be set by an environment variable.
 */
import { parseArgs } from 'node:util';
import { findClosestName } from '../correctable/unknown-option.ts';
import type { Flag } from './command.ts';
import { createUsageError, formatFlag, type RawOptions } from './options.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CommandLine {
  readonly options: RawOptions;
  /** Words that are no flags, without the name of the command. */
  readonly words: readonly string[];
  readonly wantsHelp: boolean;
  readonly wantsVersion: boolean;
}

const ENVIRONMENT_PREFIX = 'CORRECTABLES_';

/**
 * Matches values that count as not set. If a Kubernetes service is named `correctables`, Kubernetes
 * sets `CORRECTABLES_PORT` to an address in each container.
 */
const UNSET = /^(tcp:.*)?$/;

/** Returns the first word, which names the command, and the other arguments. */
export function splitCommand(
  argv: readonly string[],
): readonly [name: string | undefined, others: readonly string[]] {
  const [first, ...others] = argv;
  return first === undefined || first.startsWith('-') ? [undefined, argv] : [first, others];
}

/**
 * Reads the arguments of a command.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if a flag is unknown or typed twice, lacks its value,
 * or has a value that it does not take
 */
export function parseCommandLine(
  argv: readonly string[],
  flags: readonly Flag[],
  environment: Environment,
): CommandLine {
  const known = describeFlags(flags);
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      [...known.values()].map(({ word, value }) => [
        word,
        { type: value === 'needed' ? ('string' as const) : ('boolean' as const) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const typed: Record<string, unknown> = {};
  const special = new Set<string>();
  const words: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'positional') {
      const flag = findFlagWithoutValue(tokens[index - 1], known, typed);
      // A command has its words before such a flag.
      if (flag !== undefined && words.length > 0) typed[flag.name] = token.value;
      else words.push(token.value);
    }
    if (token.kind !== 'option') continue;
    if (isSpecial(token.rawName)) special.add(token.rawName);
    else readFlag(token, known, typed);
  }

  return {
    options: {
      ...readDefaults(flags),
      ...readEnvironment(known, environment),
      ...typed,
    },
    words,
    wantsHelp: special.has('--help') || special.has('-h'),
    wantsVersion: special.has('--version') || special.has('-v'),
  };
}

/** Returns the environment variables of a flag, the first one first. */
export function getVariableNames(flag: string): readonly string[] {
  const name = formatFlag(flag).slice('--'.length);
  const own = `${ENVIRONMENT_PREFIX}${name.replaceAll('-', '_').toUpperCase()}`;
  // Platforms that start containers specify the port to listen on in `PORT`.
  return name === 'port' ? [own, 'PORT'] : [own];
}

/**
 * Returns the variable that gave the flag its value, or `undefined` if it was typed or is the
 * default.
 */
export function findVariableFor(
  field: string,
  argv: readonly string[],
  environment: Environment,
): string | undefined {
  const name = toOptionName(field);
  const isTyped = argv.some((word) => word.startsWith('--') && toOptionName(word) === name);
  return isTyped ? undefined : findSetVariable(name, environment);
}

interface KnownFlag {
  /** The name of the flag's option: `redLeader` for `--red-leader`. */
  readonly name: string;
  readonly word: string;
  readonly value: 'none' | 'optional' | 'needed';
}

interface OptionToken {
  readonly rawName: string;
  readonly name: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function isSpecial(word: string): boolean {
  return ['--help', '-h', '--version', '-v'].includes(word);
}

/** Returns each flag by its name. Users may type it as `--red-leader` or `--redLeader`. */
function describeFlags(flags: readonly Flag[]): ReadonlyMap<string, KnownFlag> {
  const known = new Map<string, KnownFlag>();
  for (const { typed } of flags) {
    const [word = '', placeholder = ''] = typed.slice('--'.length).split(' ');
    const name = toOptionName(word);
    const value = placeholder === '' ? 'none' : placeholder.startsWith('[') ? 'optional' : 'needed';
    known.set(word, { name, word, value });
    if (name !== word) known.set(name, { name, word: name, value });
  }
  return known;
}

/** Returns the flag of a token if its value may follow as the next word. */
function findFlagWithoutValue(
  token: { readonly kind: string; readonly name?: string } | undefined,
  known: ReadonlyMap<string, KnownFlag>,
  typed: Readonly<Record<string, unknown>>,
): KnownFlag | undefined {
  const flag = token?.kind === 'option' ? known.get(token.name ?? '') : undefined;
  return flag?.value === 'optional' && typed[flag.name] === true ? flag : undefined;
}

function readFlag(
  { rawName, name, value, inlineValue }: OptionToken,
  known: ReadonlyMap<string, KnownFlag>,
  typed: Record<string, unknown>,
): void {
  const flag = known.get(name);
  if (flag === undefined) throw createUsageError(rawName, describeUnknownFlag(name, known));
  if (Object.hasOwn(typed, flag.name))
    throw createUsageError(flag.name, 'was passed more than once. Pass it once.');

  if (flag.value !== 'needed' && inlineValue !== true) {
    typed[flag.name] = true;
    return;
  }
  if (flag.value === 'none')
    throw createUsageError(flag.name, 'takes no value: give it as it is, or leave it out');
  if (value === undefined || value === '') throw createUsageError(flag.name, 'needs a value');
  if (inlineValue !== true && /^-\d/.test(value))
    throw createUsageError(flag.name, `takes no number below 0, not "${value}"`);
  // The value looks like a flag, so the user has left out the value of this flag.
  if (inlineValue !== true && value.startsWith('--'))
    throw createUsageError(flag.name, 'needs a value');
  typed[flag.name] = value;
}

function describeUnknownFlag(name: string, known: ReadonlyMap<string, KnownFlag>): string {
  const closest = findClosestName(name, [...known.keys()]);
  const advice = closest === undefined ? '' : `. Did you mean ${formatFlag(closest)}?`;
  return `is an unknown flag${advice}`;
}

function readDefaults(flags: readonly Flag[]): RawOptions {
  return Object.fromEntries(
    flags.flatMap(({ typed, defaultValue }) =>
      defaultValue === undefined ? [] : [[toOptionName(typed.split(' ')[0] ?? ''), defaultValue]],
    ),
  );
}

/**
 * Reads the flags that are set by variables. A variable of a flag without a value takes `true`,
 * `1`, `false` or `0`. An empty one counts as not set.
 */
function readEnvironment(
  known: ReadonlyMap<string, KnownFlag>,
  environment: Environment,
): RawOptions {
  const found: Record<string, unknown> = {};
  for (const { name, value: taken } of known.values()) {
    const variable = findSetVariable(name, environment);
    if (variable === undefined) continue;
    const value = environment[variable] as string;
    if (taken === 'needed') found[name] = value;
    else if (/^(true|1)$/i.test(value)) found[name] = true;
    else if (/^(false|0)$/i.test(value)) continue;
    else if (taken === 'optional') found[name] = value;
    else throw createUsageError(variable, `must be true or false, got "${value}"`);
  }
  return found;
}

function findSetVariable(name: string, environment: Environment): string | undefined {
  return getVariableNames(name).find((variable) => !UNSET.test(environment[variable] ?? ''));
}

/** Returns `redLeader` for `--red-leader`, `--red-leader=ireland` and `red-leader`. */
function toOptionName(word: string): string {
  return word
    .replace(/^--/, '')
    .replace(/=.*/s, '')
    .replaceAll(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase());
}
