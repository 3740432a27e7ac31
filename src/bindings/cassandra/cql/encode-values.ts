/**
 * Encodes values by their column's type. A value that does not fit is rejected. The driver would
 * truncate it, or write 0.
 */
import { getToStringTag } from '../../../correctable/built-in-class.ts';
import { isDate, isMap, isSet } from '../../../values/value-kinds.ts';
import type { CassandraDriver, DriverEncoder } from '../driver.ts';
import { resolveType } from './custom-types.ts';
import { encodeFixedInteger, encodeUnsignedVint } from './integers.ts';
import { toPlainDriverValue } from './plain-values.ts';
import { CqlTypeError, createCqlTypeError, encodeScalar } from './encode-scalars.ts';
import {
  getEntryTypes,
  isPlainObject,
  getItemType,
  getTupleTypes,
  getTypeName,
  TYPE,
  getUserTypeInfo,
  getVectorInfo,
  type CqlType,
} from './cql-types.ts';

/** The parts that only the driver has: its classes, and its encoding of its own types. */
export interface DriverEncoding {
  readonly types: CassandraDriver['types'];
  readonly encoder: DriverEncoder | undefined;
}

const NULL_LENGTH_BYTES = encodeFixedInteger(-1n, 4)!;
/** Returns the bytes of a value, or `null` for null. Throws `CqlTypeError`. */
export function encodeValue(
  value: unknown,
  input: CqlType,
  foreign: DriverEncoding,
): Uint8Array | null {
  if (value === null) return null;
  const type = resolveType(input);
  if (isDriverValue(value)) {
    if (type.code === TYPE.custom) return encodeDriverValue(value, type, foreign);
    const plain = toPlainDriverValue(value, foreign.types);
    // An object is never accepted as text, whatever its `toString` returns.
    if (plain !== undefined && !TEXT_CODES.has(type.code)) return encodeValue(plain, type, foreign);
  }
  switch (type.code) {
    case TYPE.list:
    case TYPE.set:
      return encodeList(getItems(value, type), getItemType(type), foreign);
    case TYPE.map:
      return encodeMap(getEntries(value, type), type, foreign);
    case TYPE.tuple:
      return encodeTuple(getItems(value, type), type, foreign);
    case TYPE.udt:
      return encodeUserType(value, type, foreign);
    case TYPE.vector:
      return encodeVector(getItems(value, type), type, foreign);
    default:
      return encodeScalar(value, type);
  }
}

const TEXT_CODES: ReadonlySet<number> = new Set<number>([TYPE.ascii, TYPE.text, TYPE.varchar]);

function encodeList(items: readonly unknown[], of: CqlType, foreign: DriverEncoding): Uint8Array {
  return Buffer.concat([
    encodeLength(items.length),
    ...items.map((item) => prefixSize(encodeElement(item, of, foreign))),
  ]);
}

function encodeMap(
  entries: readonly (readonly [unknown, unknown])[],
  type: CqlType,
  foreign: DriverEncoding,
): Uint8Array {
  const [keyType, valueType] = getEntryTypes(type);
  const keys = new Set<string>();
  const parts = entries.flatMap(([key, value]) => {
    const keyBytes = encodeElement(key, keyType, foreign);
    keys.add(Buffer.from(keyBytes).toString('latin1'));
    return [prefixSize(keyBytes), prefixSize(encodeElement(value, valueType, foreign))];
  });
  if (keys.size < entries.length) throw new CqlTypeError('map: the same key stands there twice');
  return Buffer.concat([encodeLength(entries.length), ...parts]);
}

function encodeTuple(
  items: readonly unknown[],
  type: CqlType,
  foreign: DriverEncoding,
): Uint8Array {
  const types = getTupleTypes(type);
  if (items.length !== types.length)
    throw new CqlTypeError(`tuple: ${types.length} items are due, not ${items.length}`);
  return Buffer.concat(types.map((item, at) => encodeSizedOrNull(items[at], item, foreign)));
}

/**
 * Encodes a missing field as null, and rejects an unknown field. An object of a class must have
 * every field, because some fields may be hidden.
 */
function encodeUserType(value: unknown, type: CqlType, foreign: DriverEncoding): Uint8Array {
  const { name, fields } = getUserTypeInfo(type);
  if (!isPlainObject(value) && !isDriverValue(value))
    throw createCqlTypeError(value, type, 'an object is');
  const names = new Set(fields.map((field) => field.name));
  const unknown = Object.keys(value).find((key) => !names.has(key));
  if (unknown !== undefined) throw new CqlTypeError(`${name}: there is no field '${unknown}'`);
  const isPlain = isPlainObject(value);
  const input = (field: string): unknown => {
    if (isPlain ? Object.hasOwn(value, field) : field in value)
      return (value as Readonly<Record<string, unknown>>)[field];
    if (isPlain) return null;
    throw new CqlTypeError(`${name}: the object has no field '${field}'`);
  };
  return Buffer.concat(
    fields.map((field) => encodeSizedOrNull(input(field.name), field.type, foreign)),
  );
}

function encodeVector(
  items: readonly unknown[],
  type: CqlType,
  foreign: DriverEncoding,
): Uint8Array {
  const { of, length: dimension } = getVectorInfo(type);
  if (items.length !== dimension)
    throw new CqlTypeError(`vector: ${dimension} items are due, not ${items.length}`);
  const isFixed = hasFixedSize(of);
  const parts = items.map((item) => encodeElement(item, of, foreign));
  return Buffer.concat(
    parts.flatMap((bytes) =>
      isFixed ? [bytes] : [encodeUnsignedVint(BigInt(bytes.length)), bytes],
    ),
  );
}

const FIXED_SIZE_CODES: ReadonlySet<number> = new Set<number>([
  TYPE.bigint,
  TYPE.boolean,
  TYPE.timestamp,
  TYPE.double,
  TYPE.float,
  TYPE.int,
  TYPE.timeuuid,
  TYPE.uuid,
]);

/** Items of a vector that all have the same size are encoded without their size. */
function hasFixedSize(type: CqlType): boolean {
  return type.code === TYPE.vector
    ? hasFixedSize(getVectorInfo(type).of)
    : FIXED_SIZE_CODES.has(type.code);
}

/** An item of a collection is never null. */
function encodeElement(value: unknown, type: CqlType, foreign: DriverEncoding): Uint8Array {
  const bytes = value === undefined ? null : encodeValue(value, type, foreign);
  if (bytes === null)
    throw new CqlTypeError(`${getTypeName(resolveType(type))}: a collection has no null in it`);
  return bytes;
}

function encodeSizedOrNull(value: unknown, type: CqlType, foreign: DriverEncoding): Uint8Array {
  const bytes = encodeValue(value ?? null, type, foreign);
  return bytes === null ? NULL_LENGTH_BYTES : prefixSize(bytes);
}

function prefixSize(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([encodeLength(bytes.length), bytes]);
}

function encodeLength(count: number): Uint8Array {
  return encodeFixedInteger(BigInt(count), 4)!;
}

function getItems(value: unknown, type: CqlType): readonly unknown[] {
  // The array is copied, because holes in it would be skipped by `map`.
  if (Array.isArray(value)) return Array.from<unknown>(value);
  if (isSet(value)) return [...value];
  if (/^Float(32|64)Array$/.test(getToStringTag(value))) return [...(value as Float64Array)];
  throw createCqlTypeError(value, type, 'an array is');
}

function getEntries(value: unknown, type: CqlType): readonly (readonly [unknown, unknown])[] {
  if (isMap(value)) return [...value];
  if (Array.isArray(value) && value.every(isPair)) return value;
  if (isPlainObject(value)) return Object.entries(value);
  throw createCqlTypeError(value, type, 'an object, a Map or an array of [key, value] is');
}

function isPair(value: unknown): value is readonly [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

/**
 * Returns whether a value is an instance of a class of the driver or of the application. Only the
 * driver can encode such a value.
 */
function isDriverValue(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isPlainObject(value))
    return false;
  return !(ArrayBuffer.isView(value) || isDate(value) || isMap(value) || isSet(value));
}

/** @throws CqlTypeError if the value is not of the type */
function encodeDriverValue(value: object, type: CqlType, { encoder }: DriverEncoding): Uint8Array {
  if (encoder === undefined) throw new CqlTypeError(`${getTypeName(type)}: a plain value is due`);
  try {
    return encoder.encode(value, type) as Uint8Array;
  } catch (cause) {
    throw new CqlTypeError(`${getTypeName(type)}: ${(cause as Error).message}`, { cause });
  }
}
