/**
 * Schemas of messages between sites. They are written by hand, so that a check costs no more than
 * reading each field.
 */
import { MAX_START } from './epoch.ts';
import { MAX_ORIGINS, type Origins } from '../service/records/origin.ts';

/**
 * Describes what is wrong with a value, beginning with the position. Returns `undefined` if nothing
 * is.
 */
export type RecordSchema = (value: unknown, origins: Origins) => string | undefined;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Prepends a position to a problem. */
function prefixPath(place: string | number, problem: string | undefined): string | undefined {
  if (problem === undefined) return undefined;
  return `${place}${problem.startsWith(':') ? '' : '.'}${problem}`;
}

/** An integer from `least` on. */
export const integerFrom =
  (least: number): RecordSchema =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? undefined
      : `: must be an integer from ${least} on`;

export const count: RecordSchema = integerFrom(0);

/** The name of a start, which is a term and an epoch. There is room above it for later starts. */
export const start: RecordSchema = (value, origins) =>
  count(value, origins) ??
  ((value as number) <= MAX_START ? undefined : `: must be ${MAX_START} at most`);

/** The digest of a prefix: 32 bits. */
export const digest: RecordSchema = (value) =>
  typeof value === 'number' && (value | 0) === value
    ? undefined
    : ': must be an integer of 32 bits';

export const flag: RecordSchema = (value) =>
  typeof value === 'boolean' ? undefined : ': must be true or false';

/** A text of at most this many characters. */
export const text =
  (maxLength: number): RecordSchema =>
  (value) =>
    typeof value === 'string' && value.length <= maxLength
      ? undefined
      : `: must be text of ${maxLength} characters at most`;

/** Names of tables, fields, actions, operations and shadow operations, and of kinds. */
export const word: RecordSchema = text(4096);

export const anyValue: RecordSchema = () => undefined;

export const anyObject: RecordSchema = (value) =>
  isObject(value) ? undefined : ': must be an object';

/** The ordinal of a site, which the receiver need not know yet: see `findUnknownOrigin`. */
export const siteOrigin: RecordSchema = (value) =>
  Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= MAX_ORIGINS
    ? undefined
    : ': must be the ordinal of a site';

/** A list whose number of items is within these limits. */
export const list =
  (item: RecordSchema, most: number, least = 0): RecordSchema =>
  (value, origins) => {
    if (!Array.isArray(value)) return ': must be a list';
    if (value.length > most || value.length < least)
      return `: must have ${least} to ${most} items, not ${value.length}`;
    for (let index = 0; index < value.length; index += 1) {
      const problem = item(value[index], origins);
      if (problem !== undefined) return prefixPath(index, problem);
    }
    return undefined;
  };

export const listByOrdinal: RecordSchema = list(count, MAX_ORIGINS);

/** A list of these items, in this order. */
export const tuple =
  (...items: readonly RecordSchema[]): RecordSchema =>
  (value, origins) => {
    if (!Array.isArray(value) || value.length !== items.length)
      return `: must be a list of ${items.length}`;
    for (const [index, item] of items.entries()) {
      const problem = item(value[index], origins);
      if (problem !== undefined) return prefixPath(index, problem);
    }
    return undefined;
  };

/** Plain data with these fields and no others. An unknown field could mean anything. */
export function record(
  needed: Readonly<Record<string, RecordSchema>>,
  maybe: Readonly<Record<string, RecordSchema>> = {},
): RecordSchema {
  const names = Object.keys(needed);
  const all = new Map([...Object.entries(needed), ...Object.entries(maybe)]);
  return (value, origins) => {
    if (!isObject(value)) return ': must be an object';
    for (const name of names) if (!Object.hasOwn(value, name)) return `${name}: is missing`;
    for (const name of Object.keys(value)) {
      const problem = all.get(name)?.(value[name], origins);
      if (problem !== undefined) return prefixPath(name, problem);
      if (!all.has(name)) return `${name}: is no field of it`;
    }
    return undefined;
  };
}

/** Plain data with any names, at most `most` of them, and such values. */
export const recordOf =
  (item: RecordSchema, most: number): RecordSchema =>
  (value, origins) => {
    if (!isObject(value)) return ': must be an object';
    const names = Object.keys(value);
    if (names.length > most) return `: must have ${most} names at most, not ${names.length}`;
    for (const name of names) {
      const problem = word(name, origins) ?? item(value[name], origins);
      if (problem !== undefined) return prefixPath(name, problem);
    }
    return undefined;
  };

/** One of several kinds of data, which have their kind in `kind`. */
export function oneOfKinds(kinds: Readonly<Record<string, RecordSchema>>): RecordSchema {
  const shapes = new Map(Object.entries(kinds));
  return (value, origins) => {
    if (!isObject(value)) return ': must be an object';
    const { kind } = value;
    const shape = typeof kind === 'string' ? shapes.get(kind) : undefined;
    return shape === undefined
      ? `kind: must be one of ${[...shapes.keys()].join(', ')}`
      : shape(value, origins);
  };
}
