/**
 * What programs without types may give for an argument. It is looked at where it is given: later it would fail as something
 * else, or be taken in silence. The library entry has `isThenable` of it; for the rest it makes do with `check` and
 * `checkOptions`, which are smaller.
 */
import { check } from './errors.ts';

/** The names of all options in `O`, for `checkNamed`; the compiler keeps such a list whole. */
export type NamesOf<O> = { readonly [K in keyof O]-?: true };

/** How a function is called. */
export interface Usage {
  /** The right call, for example `memory({ lagMs: 20 })`. */
  readonly call: string;
  /** The argument that is looked at; `options` unless given. What is misspelt in it is named with it. */
  readonly field?: string;
}

/** A text with something in it. */
export function isName(given: unknown): given is string {
  return typeof given === 'string' && given !== '';
}

/** Names that no member of an object of ours can have: JavaScript has a use for them. */
const RESERVED: readonly string[] = ['', '__proto__', 'then'];

/**
 * Checks a name that becomes the name of a member, as that of an operation does in its contract. `taken` are names that
 * the object uses itself.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for a reserved name, and for half of a surrogate pair, which cannot be sent
 */
export function checkMemberName(name: string, field: string, taken: readonly string[] = []): void {
  const reserved = [...taken, ...RESERVED];
  const advice = `the name ${JSON.stringify(name)} is reserved, as are ${JSON.stringify(reserved)}. Choose another name.`;
  check(!reserved.includes(name), field, advice);
  const isWhole = !/\p{Surrogate}/u.test(name);
  check(isWhole, field, `the name ${JSON.stringify(name)} has half of a surrogate pair. Choose another name.`);
}

/** An object, and no list. */
export function isRecord(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

/** Whether `given` can be awaited: a promise, and a Correctable too. */
export function isThenable(given: unknown): given is PromiseLike<unknown> {
  return typeof (given as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Whether `given` is an object with methods of these names. */
export function hasMethods(given: unknown, ...names: readonly string[]): boolean {
  return isRecord(given) && names.every((name) => typeof given[name] === 'function');
}

/** Whether `given` can be a binding. */
export function isBinding(given: unknown): boolean {
  return hasMethods(given, 'consistencyLevels', 'submitOperation', 'supports');
}

/** Whether `given` can be the time of a client, a binding or a test. */
export function isClock(given: unknown): boolean {
  return hasMethods(given, 'now', 'setTimer');
}

/** @throws CorrectableError `INVALID_ARGUMENT` for what is no object, which shows the right call */
export function checkRecord(given: unknown, { call, field = 'options' }: Usage): void {
  check(isRecord(given), field, `write ${call}`);
}

/** @throws CorrectableError `INVALID_ARGUMENT` for what is no object of options, and for one that is misspelt */
export function checkNamed(given: unknown, usage: Usage, names: Readonly<Record<string, true>>): void {
  checkRecord(given, usage);
  for (const [name, value] of Object.entries(given as object)) {
    const isKnown = value === undefined || Object.hasOwn(names, name);
    const where = usage.field === undefined ? name : `${usage.field}.${name}`;
    check(isKnown, where, `is none of ${Object.keys(names).join(', ')}: write ${usage.call}`);
  }
}

/** @throws CorrectableError `INVALID_ARGUMENT` for one of these that is neither of that kind nor left out */
export function checkKinds(given: object, kind: 'boolean' | 'function', ...names: readonly string[]): void {
  const fields = given as Readonly<Record<string, unknown>>;
  for (const name of names) {
    const value = fields[name];
    check(value === undefined || typeof value === kind, name, `must be a ${kind}, or none`);
  }
}
