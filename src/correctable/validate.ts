/**
 * Checks arguments of programs without types. An argument is checked where it is passed: later it
 * would fail as something else, or be ignored in silence. The entry `correctables` bundles only
 * `isThenable` of this file. For everything else it uses `check` and `checkOptions` of `errors.ts`,
 * which are smaller.
 */
import { check, CorrectableError } from './errors.ts';
import { describeUnknownOption } from './unknown-option.ts';

/**
 * The names of all options in `O`, for `checkOptionNames`. The compiler checks that such a list is
 * complete.
 */
export type OptionNamesOf<O> = { readonly [K in keyof O]-?: true };

/** Describes the call that is checked. */
export interface Usage {
  /** A correct call, for example `memory({ lagMs: 20 })`. */
  readonly call: string;
  /**
   * The argument that is checked. Errors name it together with a misspelled option. Default:
   * `options`
   */
  readonly field?: string;
}

/** Returns whether the value is a string with at least one character. */
export function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Names that JavaScript uses itself, so no object of this package can have such a member. */
const RESERVED_NAMES: readonly string[] = ['', '__proto__', 'then'];

/**
 * Checks a name that becomes the name of a member, like that of an operation in its contract.
 * `taken` are names that the object uses itself.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for a reserved name, and for half of a surrogate
 * pair, which cannot be sent
 */
export function checkMemberName(name: string, field: string, taken: readonly string[] = []): void {
  const reserved = [...taken, ...RESERVED_NAMES];
  const advice = `the name ${JSON.stringify(name)} is reserved, as are ${JSON.stringify(reserved)}. Choose another name.`;
  check(!reserved.includes(name), field, advice);
  const isWhole = !/\p{Surrogate}/u.test(name);
  check(
    isWhole,
    field,
    `the name ${JSON.stringify(name)} has half of a surrogate pair. Choose another name.`,
  );
}

/** Returns whether the value is an object and no array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether the value can be awaited: a promise, or a Correctable. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Returns whether the value is an object with methods of these names. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return isRecord(value) && names.every((name) => typeof value[name] === 'function');
}

/** Returns whether the value can be a binding. */
export function isBinding(value: unknown): boolean {
  return hasMethods(value, 'consistencyLevels', 'submitOperation', 'supports');
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` if the value is no object; the message shows a
 * correct call
 */
export function checkRecord(value: unknown, { call, field = 'options' }: Usage): void {
  check(isRecord(value), field, `write ${call}`);
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` if the value is no object of options, or an option is
 * misspelled
 */
export function checkOptionNames(
  input: unknown,
  usage: Usage,
  names: Readonly<Record<string, unknown>>,
): void {
  checkRecord(input, usage);
  for (const [name, value] of Object.entries(input as object)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    const field = usage.field === undefined ? name : `${usage.field}.${name}`;
    const message = describeUnknownName(name, names, usage);
    throw new CorrectableError('INVALID_ARGUMENT', message, { field });
  }
}

function describeUnknownName(
  name: string,
  names: Readonly<Record<string, unknown>>,
  { field, call }: Usage,
): string {
  const callee = /^\w+(?=\()/.exec(call)?.[0];
  const place = field ?? (callee === undefined ? 'options' : `${callee}()`);
  return `${place}: ${describeUnknownOption(name, Object.keys(names))} Example: ${call}`;
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` if one of these options is present and has another
 * type
 */
export function checkOptionTypes(
  input: object,
  kind: 'boolean' | 'function',
  ...names: readonly string[]
): void {
  const fields = input as Readonly<Record<string, unknown>>;
  for (const name of names) {
    const value = fields[name];
    check(value === undefined || typeof value === kind, name, `must be a ${kind}, or none`);
  }
}
