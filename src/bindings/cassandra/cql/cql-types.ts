/** The types of CQL, with their numbers in the native protocol. */
import { isPlain } from '../../../values/value-kinds.ts';

/**
 * A type in the shape of `cassandra-driver`. For a type that consists of other types, `info`
 * contains these.
 */
export interface CqlType {
  readonly code: number;
  readonly info?: unknown;
}

export const TYPE = {
  custom: 0x00,
  ascii: 0x01,
  bigint: 0x02,
  blob: 0x03,
  boolean: 0x04,
  counter: 0x05,
  decimal: 0x06,
  double: 0x07,
  float: 0x08,
  int: 0x09,
  text: 0x0a,
  timestamp: 0x0b,
  uuid: 0x0c,
  varchar: 0x0d,
  varint: 0x0e,
  timeuuid: 0x0f,
  inet: 0x10,
  date: 0x11,
  time: 0x12,
  smallint: 0x13,
  tinyint: 0x14,
  duration: 0x15,
  list: 0x20,
  map: 0x21,
  set: 0x22,
  udt: 0x30,
  tuple: 0x31,
  /** A vector has no number in the protocol, which sends the name of its class instead. */
  vector: -1,
} as const;

const TYPE_NAMES = new Map<number, string>(
  Object.entries(TYPE).map(([name, code]) => [code, name]),
);

export interface UserTypeInfo {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly type: CqlType }[];
}

export interface VectorInfo {
  readonly of: CqlType;
  readonly length: number;
}

export const getItemType = ({ info }: CqlType): CqlType => info as CqlType;
export const getEntryTypes = ({ info }: CqlType): readonly [CqlType, CqlType] =>
  info as [CqlType, CqlType];
export const getTupleTypes = ({ info }: CqlType): readonly CqlType[] => info as CqlType[];
export const getUserTypeInfo = ({ info }: CqlType): UserTypeInfo => info as UserTypeInfo;
export const getVectorInfo = ({ info }: CqlType): VectorInfo => info as VectorInfo;

export function getTypeName(type: CqlType): string {
  if (type.code === TYPE.udt) return getUserTypeInfo(type).name;
  return TYPE_NAMES.get(type.code) ?? String(type.code);
}

const TEXTUAL_CODES: ReadonlySet<number> = new Set<number>([
  TYPE.ascii,
  TYPE.text,
  TYPE.varchar,
  TYPE.uuid,
  TYPE.timeuuid,
  TYPE.inet,
  TYPE.date,
  TYPE.time,
  TYPE.decimal,
  TYPE.duration,
]);

/**
 * Returns whether values of the type are strings in their plain form (see `Row`), so that they can
 * be keys of an object.
 */
export function isTextual({ code }: CqlType): boolean {
  return TEXTUAL_CODES.has(code);
}

/** Returns whether a value is an object of no class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && isPlain(value);
}
