/**
 * Values as the bytes of their column's type. What the type does not take is refused: the driver would cut off what is
 * too much, take a 0 for what is no number, and tell nobody.
 */
import { tagOf } from '../../../correctable/kind.ts';
import { isDate, isMap, isSet } from '../../../values/kinds.ts';
import type { CassandraDriver, DriverEncoder } from '../driver.ts';
import { resolved } from './class-names.ts';
import { fixedBytes, unsignedVint } from './integers.ts';
import { standsFor } from './reading.ts';
import { Misfit, misfit, scalarBytes } from './scalars.ts';
import { entryOf, isPlainObject, itemOf, itemsOf, nameOf, TYPE, userTypeOf, vectorOf, type CqlType } from './types.ts';

/** What only the driver knows: its classes, and how it writes values of types of its own. */
export type Foreign = Pick<CassandraDriver, 'types'> & { readonly encoder: DriverEncoder | undefined };

const NULL = fixedBytes(-1n, 4)!;
/**
 * The bytes of a value; `null` for null.
 *
 * @throws Misfit
 */
export function bytesOf(value: unknown, given: CqlType, foreign: Foreign): Uint8Array | null {
  if (value === null) return null;
  const type = resolved(given);
  if (isForeign(value)) {
    if (type.code === TYPE.custom) return written(value, type, foreign);
    const plain = standsFor(value, foreign.types);
    // A text is nothing that an object stands for, whatever it prints.
    if (plain !== undefined && !TEXTS.has(type.code)) return bytesOf(plain, type, foreign);
  }
  switch (type.code) {
    case TYPE.list:
    case TYPE.set:
      return list(itemsIn(value, type), itemOf(type), foreign);
    case TYPE.map:
      return map(entriesIn(value, type), type, foreign);
    case TYPE.tuple:
      return tuple(itemsIn(value, type), type, foreign);
    case TYPE.udt:
      return userType(value, type, foreign);
    case TYPE.vector:
      return vector(itemsIn(value, type), type, foreign);
    default:
      return scalarBytes(value, type);
  }
}

const TEXTS: ReadonlySet<number> = new Set<number>([TYPE.ascii, TYPE.text, TYPE.varchar]);

function list(items: readonly unknown[], of: CqlType, foreign: Foreign): Uint8Array {
  return Buffer.concat([length(items.length), ...items.map((item) => sized(bytesIn(item, of, foreign)))]);
}

function map(entries: readonly (readonly [unknown, unknown])[], type: CqlType, foreign: Foreign): Uint8Array {
  const [keyType, valueType] = entryOf(type);
  const keys = new Set<string>();
  const parts = entries.flatMap(([key, value]) => {
    const keyBytes = bytesIn(key, keyType, foreign);
    keys.add(Buffer.from(keyBytes).toString('latin1'));
    return [sized(keyBytes), sized(bytesIn(value, valueType, foreign))];
  });
  if (keys.size < entries.length) throw new Misfit('map: the same key stands there twice');
  return Buffer.concat([length(entries.length), ...parts]);
}

function tuple(items: readonly unknown[], type: CqlType, foreign: Foreign): Uint8Array {
  const types = itemsOf(type);
  if (items.length !== types.length) throw new Misfit(`tuple: ${types.length} items are due, not ${items.length}`);
  return Buffer.concat(types.map((each, at) => sizedOrNull(items[at], each, foreign)));
}

/**
 * A field that is not given is null. One that the type does not have is a mistake, and would be left out in silence. What an
 * object of a class has may be hidden in it: that has to give every field.
 */
function userType(value: unknown, type: CqlType, foreign: Foreign): Uint8Array {
  const { name, fields } = userTypeOf(type);
  if (!isPlainObject(value) && !isForeign(value)) throw misfit(value, type, 'an object is');
  const names = new Set(fields.map((field) => field.name));
  const stranger = Object.keys(value).find((key) => !names.has(key));
  if (stranger !== undefined) throw new Misfit(`${name}: there is no field '${stranger}'`);
  const isPlain = isPlainObject(value);
  const given = (field: string): unknown => {
    if (isPlain ? Object.hasOwn(value, field) : field in value)
      return (value as Readonly<Record<string, unknown>>)[field];
    if (isPlain) return null;
    throw new Misfit(`${name}: the object has no field '${field}'`);
  };
  return Buffer.concat(fields.map((field) => sizedOrNull(given(field.name), field.type, foreign)));
}

function vector(items: readonly unknown[], type: CqlType, foreign: Foreign): Uint8Array {
  const { of, length: dimension } = vectorOf(type);
  if (items.length !== dimension) throw new Misfit(`vector: ${dimension} items are due, not ${items.length}`);
  const isFixed = hasFixedSize(of);
  const parts = items.map((item) => bytesIn(item, of, foreign));
  return Buffer.concat(parts.flatMap((bytes) => (isFixed ? [bytes] : [unsignedVint(BigInt(bytes.length)), bytes])));
}

const FIXED: ReadonlySet<number> = new Set<number>([
  TYPE.bigint,
  TYPE.boolean,
  TYPE.timestamp,
  TYPE.double,
  TYPE.float,
  TYPE.int,
  TYPE.timeuuid,
  TYPE.uuid,
]);

/** Items of a vector that all have the same size stand there without it. */
function hasFixedSize(type: CqlType): boolean {
  return type.code === TYPE.vector ? hasFixedSize(vectorOf(type).of) : FIXED.has(type.code);
}

/** What stands in a collection is never null. */
function bytesIn(value: unknown, type: CqlType, foreign: Foreign): Uint8Array {
  const bytes = value === undefined ? null : bytesOf(value, type, foreign);
  if (bytes === null) throw new Misfit(`${nameOf(resolved(type))}: a collection has no null in it`);
  return bytes;
}

function sizedOrNull(value: unknown, type: CqlType, foreign: Foreign): Uint8Array {
  const bytes = bytesOf(value ?? null, type, foreign);
  return bytes === null ? NULL : sized(bytes);
}

function sized(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([length(bytes.length), bytes]);
}

function length(count: number): Uint8Array {
  return fixedBytes(BigInt(count), 4)!;
}

function itemsIn(value: unknown, type: CqlType): readonly unknown[] {
  // Not as it is: what is to be done with each item would not be done with one that is left out.
  if (Array.isArray(value)) return Array.from<unknown>(value);
  if (isSet(value)) return [...value];
  if (/^Float(32|64)Array$/.test(tagOf(value))) return [...(value as Float64Array)];
  throw misfit(value, type, 'an array is');
}

function entriesIn(value: unknown, type: CqlType): readonly (readonly [unknown, unknown])[] {
  if (isMap(value)) return [...value];
  if (Array.isArray(value) && value.every(isPair)) return value;
  if (isPlainObject(value)) return Object.entries(value);
  throw misfit(value, type, 'an object, a Map or an array of [key, value] is');
}

function isPair(value: unknown): value is readonly [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

/** Whether a value is of a class that has no meaning here by itself: one of the driver's, or of the application's. */
function isForeign(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isPlainObject(value)) return false;
  return !(ArrayBuffer.isView(value) || isDate(value) || isMap(value) || isSet(value));
}

/** @throws Misfit where it is none of the type's */
function written(value: object, type: CqlType, { encoder }: Foreign): Uint8Array {
  if (encoder === undefined) throw new Misfit(`${nameOf(type)}: a plain value is due`);
  try {
    return encoder.encode(value, type) as Uint8Array;
  } catch (cause) {
    throw new Misfit(`${nameOf(type)}: ${(cause as Error).message}`, { cause });
  }
}
