/** Values of the driver as plain ones (see `Row`), which can be compared and sent. */
import { CorrectableError } from '../../../correctable/errors.ts';
import type { CassandraDriver } from '../driver.ts';
import { resolved } from './class-names.ts';
import { decimalText } from './decimal.ts';
import { durationText, hasOneSign, type Duration } from './duration.ts';
import { bigintOf } from './integers.ts';
import {
  entryOf,
  isPlainObject,
  isTextual,
  itemOf,
  itemsOf,
  TYPE,
  userTypeOf,
  vectorOf,
  type CqlType,
} from './types.ts';

type DriverTypes = CassandraDriver['types'];
type DriverDuration = { readonly [part in 'months' | 'days' | 'nanoseconds']: unknown };

/** The plain form of a value; `given` is the type of its column, where it is known. */
export function plainValue(value: unknown, given: CqlType | undefined, types: DriverTypes): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (value instanceof Date) return checkedDate(value);
  // A copy of its own: a view would keep the whole answer in memory, and show it to whoever looks at `buffer`.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  const type = given && resolved(given);
  if (value instanceof Map) return plainMap([...(value as ReadonlyMap<unknown, unknown>)], type, types);
  const items = elementsOf(value, types);
  if (items !== undefined) return Array.from(items, (item, at) => plainValue(item, typeOfItem(type, at), types));
  if (isPlainObject(value)) return plainObject(value, type, types);
  return plainInstance(value, types);
}

/** Sets a property as one of the object's own, whatever its name: `__proto__` would change what the object is. */
export function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The classes of single values that a driver has. */
const SCALARS = ['BigDecimal', 'Duration', 'InetAddress', 'Integer', 'LocalDate', 'LocalTime', 'Long', 'Uuid'] as const;

/** What an object of one of the driver's classes stands for: a plain single value, or items; `undefined` for any other. */
export function standsFor(value: object, types: DriverTypes): unknown {
  if (isItems(value, types)) return value.elements;
  if (!SCALARS.some((name) => value instanceof types[name])) return undefined;
  // Cassandra has none that goes both ways, and no text says it.
  if (value instanceof types.Duration && !hasOneSign(partsOf(value as DriverDuration))) return undefined;
  return plainInstance(value, types);
}

function plainInstance(value: object, types: DriverTypes): unknown {
  if (value instanceof types.Long) return BigInt(String(value));
  // Its own decimal text takes minutes for what a damaged answer may hold.
  if (value instanceof types.Integer) return bigintOf(types.Integer.toBuffer(value));
  if (value instanceof types.BigDecimal) return decimalText(types.BigDecimal.toBuffer(value));
  if (value instanceof types.Duration) return durationText(partsOf(value as DriverDuration));
  // Uuid, InetAddress, LocalDate, LocalTime: each is written as CQL writes it.
  return String(value);
}

function partsOf(duration: DriverDuration): Duration {
  const part = (name: keyof Duration): bigint => BigInt(String(duration[name]));
  return { months: part('months'), days: part('days'), nanoseconds: part('nanoseconds') };
}

/** Two that a Date cannot hold would look the same. */
function checkedDate(date: Date): Date {
  if (!Number.isNaN(date.getTime())) return date;
  const message = 'a timestamp is outside of what a Date can hold: select blobAsBigint(timestampAsBlob(…)) instead';
  throw new CorrectableError('INVALID_VALUE', message);
}

function elementsOf(value: object, types: DriverTypes): Iterable<unknown> | undefined {
  if (Array.isArray(value) || value instanceof Set) return value as Iterable<unknown>;
  return isItems(value, types) ? value.elements : undefined;
}

function isItems(value: object, { Tuple, Vector }: DriverTypes): value is { readonly elements: unknown[] } {
  return value instanceof Tuple || (Vector !== undefined && value instanceof Vector);
}

function typeOfItem(type: CqlType | undefined, at: number): CqlType | undefined {
  if (type === undefined) return undefined;
  if (type.code === TYPE.list || type.code === TYPE.set) return itemOf(type);
  if (type.code === TYPE.tuple) return itemsOf(type)[at];
  return type.code === TYPE.vector ? vectorOf(type).of : undefined;
}

/** Keys that are no texts stay what they are: as the names of properties, two timestamps could be the same. */
function plainMap(entries: readonly [unknown, unknown][], type: CqlType | undefined, types: DriverTypes): unknown {
  const [keyType, valueType] = type?.code === TYPE.map ? entryOf(type) : [];
  const plain = entries.map(([key, value]): [unknown, unknown] => [
    plainValue(key, keyType, types),
    plainValue(value, valueType, types),
  ]);
  const isText = keyType === undefined ? plain.every(([key]) => typeof key === 'string') : isTextual(resolved(keyType));
  if (!isText) return plain;
  const object: Record<string, unknown> = {};
  for (const [key, value] of plain) setOwn(object, String(key), value);
  return object;
}

/** Fields that a user-defined type got after the value was written are null, as Cassandra has it. */
function plainObject(value: object, type: CqlType | undefined, types: DriverTypes): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  if (type?.code === TYPE.udt) {
    const given = value as Readonly<Record<string, unknown>>;
    for (const field of userTypeOf(type).fields) {
      setOwn(plain, field.name, plainValue(given[field.name], field.type, types));
    }
    return plain;
  }
  for (const [name, item] of Object.entries(value)) setOwn(plain, name, plainValue(item, undefined, types));
  return plain;
}
