/**
 * Describes the options of a function in one place. A description is a plain object with one entry
 * for each option: its check, and its default if it has a fixed one. Names, checks, defaults and
 * flags of the command line all come from it, so that they cannot differ.
 *
 * The text of an option is the docstring of its member in the type of the options.
 * `scripts/options-page.ts` reads it from there, so that no text gets into the bundle of a page.
 */
import { createInvalidArgumentError } from './errors.ts';
import { checkOptionNames, hasMethods, isNonEmptyString, type Usage } from './validate.ts';

/**
 * Returns what is expected, as `must be true or false`, or `undefined` if the value fits. The check
 * of an object may throw itself, to name a field in it.
 */
export type OptionCheck = (value: unknown, field: string) => string | undefined;

/** Describes an option whose value has the type `T`. */
export interface Option<T = unknown> {
  readonly check: OptionCheck;
  readonly defaultValue?: T | undefined;
}

/** An option that has a fixed default. */
export interface DefaultedOption<T> extends Option<T> {
  readonly defaultValue: T;
}

/** Describes all options in `O`. The compiler checks that none is missing. */
export type OptionsOf<O> = {
  readonly [K in keyof O]-?: Option<NonNullable<O[K]>>;
};

type DefaultedName<D> = {
  [K in keyof D]: D[K] extends DefaultedOption<unknown> ? K : never;
}[keyof D];

/** The options `O` after their defaults of `D` were filled in. */
export type ResolvedOptions<O, D> = Omit<O, DefaultedName<D>> & {
  readonly [K in DefaultedName<D> & keyof O]-?: NonNullable<O[K]>;
};

/** Describes an option that must be passed. */
export function required(check: OptionCheck): Option<never> {
  return { check };
}

/**
 * Describes an option that may be left out. If its default depends on something else, pass none
 * here.
 */
export function optional(check: OptionCheck): Option<never>;
export function optional<T>(check: OptionCheck, defaultValue: T): DefaultedOption<T>;
export function optional<T>(check: OptionCheck, defaultValue?: T): Option<T | undefined> {
  return {
    check: (value, field) => (value === undefined ? undefined : check(value, field)),
    defaultValue,
  };
}

/**
 * Checks the options of a call and fills in the defaults. An option that is `undefined` counts as
 * left out.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the input is no object, an option is misspelled,
 * missing, or does not fit
 */
export function readOptions<O extends object, const D extends OptionsOf<O>>(
  input: O,
  usage: Usage,
  description: D,
): ResolvedOptions<O, D> {
  checkOptionNames(input, usage, description);
  const resolved: Record<string, unknown> = {};
  for (const [name, option] of Object.entries<Option>(description)) {
    const value = (input as Readonly<Record<string, unknown>>)[name];
    checkOption(value, usage.field ? `${usage.field}.${name}` : name, option);
    const resolvedValue = value ?? option.defaultValue;
    if (resolvedValue !== undefined) resolved[name] = resolvedValue;
  }
  return resolved as ResolvedOptions<O, D>;
}

/** @throws CorrectableError `INVALID_ARGUMENT` if the value does not fit */
export function checkOption(value: unknown, field: string, { check }: Option): void {
  const problem = check(value, field);
  if (problem !== undefined) throw createInvalidArgumentError(field, problem);
}

/** Creates a check of what `expected` describes, as `must be a function`. */
export function matches(isRight: (value: unknown) => boolean, expected: string): OptionCheck {
  return (value) => (isRight(value) ? undefined : expected);
}

/** Any value: it is checked together with others, or where it is used. */
export const anyValue: OptionCheck = () => undefined;

export const trueOrFalse: OptionCheck = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false';

export const callback: OptionCheck = (value) =>
  typeof value === 'function' ? undefined : 'must be a function';

export const text: OptionCheck = (value) =>
  isNonEmptyString(value) ? undefined : 'must be a string that is not empty';

/** Checks the clock of a client, a binding or a test. */
export const timeSource: OptionCheck = (value) =>
  hasMethods(value, 'now', 'setTimer')
    ? undefined
    : 'must have now and setTimer, as virtualClock() has';

/** Checks an array of names without duplicates. */
export function distinctNames(example: string, max = Infinity): OptionCheck {
  return matches(
    (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= max &&
      value.every(isNonEmptyString) &&
      new Set(value).size === value.length,
    `must be a list of ${max === Infinity ? 'one or more' : `1 to ${max}`} different names, as ${example}`,
  );
}

export function oneOf(...values: readonly string[]): OptionCheck {
  return (value) =>
    values.includes(value as string)
      ? undefined
      : `must be ${values.map((item) => `'${item}'`).join(' or ')}, got ${formatValue(value)}`;
}

/** Checks an object with methods. `example` names one that has them. */
export function objectWith(methods: readonly string[], example: string): OptionCheck {
  return matches(
    (value) => hasMethods(value, ...methods),
    `must have ${methods.join(', ')}, as ${example} has`,
  );
}

/** Checks options inside of an option. */
export function nested(call: string, description: Readonly<Record<string, Option>>): OptionCheck {
  return (value, field) => {
    readOptions(value as object, { call, field }, description);
    return undefined;
  };
}

interface Bounds {
  readonly min?: number;
  /** The number must be greater than this. */
  readonly above?: number;
  /**
   * The upper bound. `Infinity` is accepted only if `max` is `Infinity`. Default: any finite number
   */
  readonly max?: number;
}

export function integer({ min = 1, ...bounds }: Bounds = {}): OptionCheck {
  return checkNumber('an integer', { min, ...bounds }, Number.isSafeInteger);
}

/** Checks a number that may have a fraction, such as a time. */
export function amount(bounds: Bounds): OptionCheck {
  return checkNumber('a number', bounds, Number.isFinite);
}

function checkNumber(
  noun: string,
  { min = 0, above = -1, max }: Bounds,
  isKind: (value: unknown) => boolean,
): OptionCheck {
  return (value) => {
    const isRight =
      (isKind(value) || value === max) &&
      (value as number) >= min &&
      (value as number) > above &&
      (value as number) <= (max ?? Infinity);
    if (isRight) return undefined;
    return `must be ${noun} ${describeRange(min, above, max)}, got ${formatValue(value)}`;
  };
}

function describeRange(min: number, above: number, max?: number): string {
  if (max === Infinity) return `${describeRange(min, above)}, or Infinity for no limit`;
  if (above >= min) return `above ${above}`;
  return max === undefined ? `from ${min} on` : `from ${min} to ${max}`;
}

/** Formats a value for an error. Objects are named by their kind only. */
function formatValue(value: unknown): string {
  const kind = typeof value;
  if (kind === 'string') return `"${value as string}"`;
  return value && (kind === 'object' || kind === 'function')
    ? `${kind === 'object' ? 'an' : 'a'} ${kind}`
    : String(value);
}
