/**
 * Types that version 4 of the protocol names by Java classes: vectors and their items, and
 * durations.
 */
import { TYPE, type CqlType } from './cql-types.ts';

const PACKAGE = 'org.apache.cassandra.db.marshal.';
const MAX_NESTING = 64;

const SIMPLE_TYPE_CODES: Readonly<Record<string, number>> = {
  AsciiType: TYPE.ascii,
  LongType: TYPE.bigint,
  BytesType: TYPE.blob,
  BooleanType: TYPE.boolean,
  CounterColumnType: TYPE.counter,
  DecimalType: TYPE.decimal,
  DoubleType: TYPE.double,
  FloatType: TYPE.float,
  Int32Type: TYPE.int,
  UTF8Type: TYPE.varchar,
  DateType: TYPE.timestamp,
  TimestampType: TYPE.timestamp,
  UUIDType: TYPE.uuid,
  IntegerType: TYPE.varint,
  TimeUUIDType: TYPE.timeuuid,
  InetAddressType: TYPE.inet,
  SimpleDateType: TYPE.date,
  TimeType: TYPE.time,
  ShortType: TYPE.smallint,
  ByteType: TYPE.tinyint,
  DurationType: TYPE.duration,
};

const MAX_PARSED_TYPES = 1_000;
const parsedTypes = new Map<string, CqlType>();

/**
 * Returns the type itself. If the protocol has only a class name for it, returns the type of that
 * class, if it is known here.
 */
export function resolveType(type: CqlType): CqlType {
  if (type.code !== TYPE.custom || typeof type.info !== 'string') return type;
  const found = parsedTypes.get(type.info) ?? parseType(type.info, 0) ?? type;
  if (parsedTypes.size >= MAX_PARSED_TYPES) parsedTypes.clear();
  parsedTypes.set(type.info, found);
  return found;
}

function parseType(text: string, depth: number): CqlType | undefined {
  if (depth > MAX_NESTING) return undefined;
  const trimmed = text.trim();
  const open = trimmed.indexOf('(');
  const named = open < 0 ? trimmed : trimmed.slice(0, open);
  const name = named.startsWith(PACKAGE) ? named.slice(PACKAGE.length) : named;
  if (open < 0) {
    const code = Object.hasOwn(SIMPLE_TYPE_CODES, name) ? SIMPLE_TYPE_CODES[name] : undefined;
    return code === undefined ? undefined : { code };
  }
  if (!trimmed.endsWith(')')) return undefined;
  const parts = splitArguments(trimmed.slice(open + 1, -1));
  const [first = '', second = ''] = parts;
  const inner = (part: string): CqlType | undefined => parseType(part, depth + 1);
  switch (name) {
    case 'FrozenType':
    case 'ReversedType':
      return inner(first);
    case 'ListType':
      return createType(TYPE.list, inner(first));
    case 'SetType':
      return createType(TYPE.set, inner(first));
    case 'MapType':
      return createType(TYPE.map, requireAll([inner(first), inner(second)]));
    case 'TupleType':
      return createType(TYPE.tuple, requireAll(parts.map(inner)));
    case 'UserType':
      return createType(TYPE.udt, parseUserType(parts, inner));
    case 'VectorType': {
      const of = inner(first);
      return createType(TYPE.vector, of && { of, length: Number.parseInt(second, 10) });
    }
    default:
      return undefined;
  }
}

function createType(code: number, info: unknown): CqlType | undefined {
  return info === undefined ? undefined : { code, info };
}

function requireAll<T>(items: readonly (T | undefined)[]): readonly T[] | undefined {
  return items.includes(undefined) ? undefined : (items as readonly T[]);
}

/** Reads keyspace, name and fields. All names but the first are in hexadecimal digits. */
function parseUserType(
  [, name = '', ...parts]: readonly string[],
  inner: (part: string) => CqlType | undefined,
): unknown {
  const fields = requireAll(
    parts.map((part) => {
      const colon = part.indexOf(':');
      const type = inner(part.slice(colon + 1));
      return type && { name: decodeHex(part.slice(0, colon)), type };
    }),
  );
  return fields && { name: decodeHex(name), fields };
}

function decodeHex(digits: string): string {
  return Buffer.from(digits.trim(), 'hex').toString();
}

/** Returns the parts between the commas. Commas in brackets do not count. */
function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    else if (sign === ',' && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}
