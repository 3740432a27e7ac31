/**
 * Values as the bytes of their column's type. What does not fit is refused: the
 * driver would truncate it, or write 0.
 */
import { getToStringTag } from '../../../correctable/built-in-class.ts';
import { isDate, isMap, isSet } from '../../../values/value-kinds.ts';
import type { CassandraDriver, DriverEncoder } from '../driver.ts';
import { resolveType } from './custom-types.ts';
import { encodeFixedInteger, encodeUnsignedVint } from './integers.ts';
import { toPlainDriverValue } from './plain-values.ts';
import {
  CqlTypeError,
  createCqlTypeError,
  encodeScalar,
} from './encode-scalars.ts';
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

/**
 * What only the driver knows: its classes, and how it writes values of types of
 * its own.
 */
export type DriverEncoding = Pick<CassandraDriver, 'types'> & {
  readonly encoder: DriverEncoder | undefined;
};

const NULL_LENGTH_BYTES = encodeFixedInteger(-1n, 4)!;
/** The bytes of a value; `null` for null. Throws `CqlTypeError`. */
export function encodeValue(
  value: unknown,
  input: CqlType,
  foreign: DriverEncoding,
): Uint8Array | null {
  if (value === null) return null;
  const type = resolveType(input);
  if (isDriverValue(value)) {
    if (type.code === TYPE.custom)
      return encodeDriverValue(value, type, foreign);
    const plain = toPlainDriverValue(value, foreign.types);
    // A text is nothing that an object stands for, whatever it prints.
    if (plain !== undefined && !TEXT_CODES.has(type.code))
      return encodeValue(plain, type, foreign);
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

const TEXT_CODES: ReadonlySet<number> = new Set<number>([
  TYPE.ascii,
  TYPE.text,
  TYPE.varchar,
]);

function encodeList(
  items: readonly unknown[],
  of: CqlType,
  foreign: DriverEncoding,
): Uint8Array {
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
    return [
      prefixSize(keyBytes),
      prefixSize(encodeElement(value, valueType, foreign)),
    ];
  });
  if (keys.size < entries.length)
    throw new CqlTypeError('map: the same key stands there twice');
  return Buffer.concat([encodeLength(entries.length), ...parts]);
}

function encodeTuple(
  items: readonly unknown[],
  type: CqlType,
  foreign: DriverEncoding,
): Uint8Array {
  const types = getTupleTypes(type);
  if (items.length !== types.length)
    throw new CqlTypeError(
      `tuple: ${types.length} items are due, not ${items.length}`,
    );
  return Buffer.concat(
    types.map((item, at) => encodeSizedOrNull(items[at], item, foreign)),
  );
}

/**
 * A missing field is null, an unknown one a mistake. An object of a class must
 * have every field: some may be hidden.
 */
function encodeUserType(
  value: unknown,
  type: CqlType,
  foreign: DriverEncoding,
): Uint8Array {
  const { name, fields } = getUserTypeInfo(type);
  if (!isPlainObject(value) && !isDriverValue(value))
    throw createCqlTypeError(value, type, 'an object is');
  const names = new Set(fields.map((field) => field.name));
  const stranger = Object.keys(value).find((key) => !names.has(key));
  if (stranger !== undefined)
    throw new CqlTypeError(`${name}: there is no field '${stranger}'`);
  const isPlain = isPlainObject(value);
  const input = (field: string): unknown => {
    if (isPlain ? Object.hasOwn(value, field) : field in value)
      return (value as Readonly<Record<string, unknown>>)[field];
    if (isPlain) return null;
    throw new CqlTypeError(`${name}: the object has no field '${field}'`);
  };
  return Buffer.concat(
    fields.map((field) =>
      encodeSizedOrNull(input(field.name), field.type, foreign),
    ),
  );
}

function encodeVector(
  items: readonly unknown[],
  type: CqlType,
  foreign: DriverEncoding,
): Uint8Array {
  const { of, length: dimension } = getVectorInfo(type);
  if (items.length !== dimension)
    throw new CqlTypeError(
      `vector: ${dimension} items are due, not ${items.length}`,
    );
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

/** Items of a vector that all have the same size stand there without it. */
function hasFixedSize(type: CqlType): boolean {
  return type.code === TYPE.vector
    ? hasFixedSize(getVectorInfo(type).of)
    : FIXED_SIZE_CODES.has(type.code);
}

/** What stands in a collection is never null. */
function encodeElement(
  value: unknown,
  type: CqlType,
  foreign: DriverEncoding,
): Uint8Array {
  const bytes = value === undefined ? null : encodeValue(value, type, foreign);
  if (bytes === null)
    throw new CqlTypeError(
      `${getTypeName(resolveType(type))}: a collection has no null in it`,
    );
  return bytes;
}

function encodeSizedOrNull(
  value: unknown,
  type: CqlType,
  foreign: DriverEncoding,
): Uint8Array {
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
  // Not as it is: what is to be done with each item would not be done with one
  // that is left out.
  if (Array.isArray(value)) return Array.from<unknown>(value);
  if (isSet(value)) return [...value];
  if (/^Float(32|64)Array$/.test(getToStringTag(value)))
    return [...(value as Float64Array)];
  throw createCqlTypeError(value, type, 'an array is');
}

function getEntries(
  value: unknown,
  type: CqlType,
): readonly (readonly [unknown, unknown])[] {
  if (isMap(value)) return [...value];
  if (Array.isArray(value) && value.every(isPair)) return value;
  if (isPlainObject(value)) return Object.entries(value);
  throw createCqlTypeError(
    value,
    type,
    'an object, a Map or an array of [key, value] is',
  );
}

function isPair(value: unknown): value is readonly [unknown, unknown] {
  return Array.isArray(value) && value.length === 2;
}

/**
 * Whether a value is of a class that has no meaning here by itself: one of the
 * driver's, or of the application's.
 */
function isDriverValue(value: unknown): value is object {
  if (
    typeof value !== 'object' ||
    value === null ||
    Array.isArray(value) ||
    isPlainObject(value)
  )
    return false;
  return !(
    ArrayBuffer.isView(value) ||
    isDate(value) ||
    isMap(value) ||
    isSet(value)
  );
}

/** @throws Misfit where it is none of the type's */
function encodeDriverValue(
  value: object,
  type: CqlType,
  { encoder }: DriverEncoding,
): Uint8Array {
  if (encoder === undefined)
    throw new CqlTypeError(`${getTypeName(type)}: a plain value is due`);
  try {
    return encoder.encode(value, type) as Uint8Array;
  } catch (cause) {
    throw new CqlTypeError(
      `${getTypeName(type)}: ${(cause as Error).message}`,
      { cause },
    );
  }
}
