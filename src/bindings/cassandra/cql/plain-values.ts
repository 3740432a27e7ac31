/** Converts values of the driver to plain ones (see `Row`), which can be compared and sent. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { CassandraDriver } from '../driver.ts';
import { resolveType } from './custom-types.ts';
import { formatDecimal } from './decimal.ts';
import { formatDuration, hasOneSign, type Duration } from './duration.ts';
import { decodeBigint } from './integers.ts';
import {
  getEntryTypes,
  isPlainObject,
  isTextual,
  getItemType,
  getTupleTypes,
  TYPE,
  getUserTypeInfo,
  getVectorInfo,
  type CqlType,
} from './cql-types.ts';

type DriverTypes = CassandraDriver['types'];
type DriverDuration = {
  readonly [part in 'months' | 'days' | 'nanoseconds']: unknown;
};

/** Returns the plain form of a value. `input` is the type of its column, if that is known. */
export function toPlainValue(
  value: unknown,
  input: CqlType | undefined,
  types: DriverTypes,
): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (value instanceof Date) return checkDate(value);
  // Copy the bytes: a view would keep the whole reply in memory, and expose it through `buffer`.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  const type = input && resolveType(input);
  if (value instanceof Map)
    return toPlainMap([...(value as ReadonlyMap<unknown, unknown>)], type, types);
  const items = getElements(value, types);
  if (items !== undefined)
    return Array.from(items, (item, at) => toPlainValue(item, getItemTypeAt(type, at), types));
  if (isPlainObject(value)) return toPlainObject(value, type, types);
  return toPlainScalar(value, types);
}

/** Sets an own property of any name. An assignment to `__proto__` would change the prototype. */
export function setOwnProperty(
  object: Record<string, unknown>,
  name: string,
  value: unknown,
): void {
  if (name !== '__proto__') object[name] = value;
  else
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

const SCALAR_CLASSES = [
  'BigDecimal',
  'Duration',
  'InetAddress',
  'Integer',
  'LocalDate',
  'LocalTime',
  'Long',
  'Uuid',
] as const;

/**
 * Returns the plain form of an object of the driver's classes: a single value, or items. Returns
 * `undefined` for any other object.
 */
export function toPlainDriverValue(value: object, types: DriverTypes): unknown {
  if (isItemSequence(value, types)) return value.elements;
  if (!SCALAR_CLASSES.some((name) => value instanceof types[name])) return undefined;
  // Cassandra has no duration with two signs, and no text can express one.
  if (value instanceof types.Duration && !hasOneSign(getDurationParts(value as DriverDuration)))
    return undefined;
  return toPlainScalar(value, types);
}

function toPlainScalar(value: object, types: DriverTypes): unknown {
  if (value instanceof types.Long) return BigInt(String(value));
  // The `toString` of a decimal could take minutes for a damaged reply.
  if (value instanceof types.Integer) return decodeBigint(types.Integer.toBuffer(value));
  if (value instanceof types.BigDecimal) return formatDecimal(types.BigDecimal.toBuffer(value));
  if (value instanceof types.Duration)
    return formatDuration(getDurationParts(value as DriverDuration));
  // Uuid, InetAddress, LocalDate, LocalTime: each is formatted as in CQL.
  return String(value);
}

function getDurationParts(duration: DriverDuration): Duration {
  const part = (name: keyof Duration): bigint => BigInt(String(duration[name]));
  return {
    months: part('months'),
    days: part('days'),
    nanoseconds: part('nanoseconds'),
  };
}

/** Two dates that a `Date` cannot represent would look the same. */
function checkDate(date: Date): Date {
  if (!Number.isNaN(date.getTime())) return date;
  const message =
    'a timestamp is outside of what a Date can hold: select blobAsBigint(timestampAsBlob(…)) instead';
  throw new CorrectableError('INVALID_VALUE', message);
}

function getElements(value: object, types: DriverTypes): Iterable<unknown> | undefined {
  if (Array.isArray(value) || value instanceof Set) return value as Iterable<unknown>;
  return isItemSequence(value, types) ? value.elements : undefined;
}

function isItemSequence(
  value: object,
  { Tuple, Vector }: DriverTypes,
): value is { readonly elements: unknown[] } {
  return value instanceof Tuple || (Vector !== undefined && value instanceof Vector);
}

function getItemTypeAt(type: CqlType | undefined, at: number): CqlType | undefined {
  if (type === undefined) return undefined;
  if (type.code === TYPE.list || type.code === TYPE.set) return getItemType(type);
  if (type.code === TYPE.tuple) return getTupleTypes(type)[at];
  return type.code === TYPE.vector ? getVectorInfo(type).of : undefined;
}

/**
 * Returns an array of pairs if the keys are no strings. As names of properties, two different
 * timestamps could be equal.
 */
function toPlainMap(
  entries: readonly [unknown, unknown][],
  type: CqlType | undefined,
  types: DriverTypes,
): unknown {
  const [keyType, valueType] = type?.code === TYPE.map ? getEntryTypes(type) : [];
  const plain = entries.map(([key, value]): [unknown, unknown] => [
    toPlainValue(key, keyType, types),
    toPlainValue(value, valueType, types),
  ]);
  const isText =
    keyType === undefined
      ? plain.every(([key]) => typeof key === 'string')
      : isTextual(resolveType(keyType));
  if (!isText) return plain;
  const object: Record<string, unknown> = {};
  for (const [key, value] of plain) setOwnProperty(object, String(key), value);
  return object;
}

/**
 * Returns an object of the fields. If a field was added to the user-defined type after the value
 * was written, it is null, as in Cassandra.
 */
function toPlainObject(
  value: object,
  type: CqlType | undefined,
  types: DriverTypes,
): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  if (type?.code === TYPE.udt) {
    const input = value as Readonly<Record<string, unknown>>;
    for (const field of getUserTypeInfo(type).fields) {
      setOwnProperty(plain, field.name, toPlainValue(input[field.name], field.type, types));
    }
    return plain;
  }
  for (const [name, item] of Object.entries(value))
    setOwnProperty(plain, name, toPlainValue(item, undefined, types));
  return plain;
}
