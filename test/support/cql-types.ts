/**
 * Draws CQL types and values of them in plain form: as a read returns them and an update accepts
 * them.
 */
import fc from 'fast-check';
import type { ColumnType } from '../../src/research/cassandra-icg/columns.ts';

/** A type: its encoding in the protocol, its name in CQL, and a generator of its values. */
export interface Typed {
  readonly type: ColumnType;
  readonly cql: string;
  readonly value: fc.Arbitrary<unknown>;
  /** Whether the type can be the key type of a map or a set. */
  readonly isKey: boolean;
}

const simple = (code: number): ColumnType => ({ code, type: null });
const custom = (info: string): ColumnType => ({ code: 0, type: null, info });
const MARSHAL = 'org.apache.cassandra.db.marshal';

const whole = (bits: bigint): fc.Arbitrary<bigint> =>
  fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n });
const int = (bits: number): fc.Arbitrary<number> =>
  fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 });
const long = whole(64n);
const varint = fc.oneof(whole(8n), whole(64n), whole(600n));
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const ascii = fc.string({ unit: 'binary-ascii', maxLength: 20 });
const blob = fc.uint8Array({ maxLength: 40 });
const timestamp = fc.date({ noInvalidDate: true });
const day = fc.date({
  min: new Date(-62_135_596_800_000),
  max: new Date(253_402_300_799_999),
  noInvalidDate: true,
});
const two = (part: number): string => String(part).padStart(2, '0');
const time = fc
  .tuple(fc.nat(23), fc.nat(59), fc.nat(59), fc.nat(999_999_999))
  .map(([h, m, s, nanoseconds]) => {
    const fraction = String(nanoseconds).padStart(9, '0').replace(/0+$/, '');
    return `${two(h)}:${two(m)}:${two(s)}${fraction === '' ? '' : `.${fraction}`}`;
  });

/** A decimal in the notation of Java and Cassandra, from its digits and its scale. */
const decimal = fc
  .tuple(whole(120n), fc.oneof(fc.integer({ min: -30, max: 30 }), int(32)))
  .map(([n, scale]) => {
    const sign = n < 0n ? '-' : '';
    const digits = String(n < 0n ? -n : n);
    const adjusted = digits.length - 1 - scale;
    if (scale === 0) return sign + digits;
    if (scale > 0 && adjusted >= -6) {
      const point = digits.length - scale;
      if (point > 0) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
      return `${sign}0.${'0'.repeat(-point)}${digits}`;
    }
    const remaining = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${sign}${digits[0]}${remaining}E${adjusted >= 0 ? '+' : ''}${adjusted}`;
  });

const DURATION = [
  ['y', 100],
  ['mo', 11],
  ['d', 1_000],
  ['h', 2_000_000],
  ['m', 59],
  ['s', 59],
  ['ms', 999],
  ['us', 999],
  ['ns', 999],
] as const;
const duration = fc
  .tuple(fc.boolean(), ...DURATION.map(([, most]) => fc.oneof(fc.constant(0), fc.nat(most))))
  .map(([isNegative, ...counts]) => {
    const parts = counts
      .map((count, at) => (count === 0 ? '' : `${count}${DURATION[at]![0]}`))
      .join('');
    return parts === '' ? '0s' : (isNegative ? '-' : '') + parts;
  });

/** An IPv6 address in its canonical form: lower case, and without the longest run of zeros. */
const address = fc.oneof(
  fc.ipV4(),
  fc.constantFrom('::1', '::', 'fe80::1', '2001:db8::8a2e:370:7334', '1:2:3:4:5:6:7:8', 'ff00::'),
);

const SIMPLE: readonly Typed[] = [
  { type: simple(0x01), cql: 'ascii', value: ascii, isKey: true },
  { type: simple(0x02), cql: 'bigint', value: long, isKey: true },
  { type: simple(0x03), cql: 'blob', value: blob, isKey: true },
  { type: simple(0x04), cql: 'boolean', value: fc.boolean(), isKey: true },
  { type: simple(0x06), cql: 'decimal', value: decimal, isKey: false },
  { type: simple(0x07), cql: 'double', value: fc.double(), isKey: false },
  { type: simple(0x08), cql: 'float', value: fc.float(), isKey: false },
  { type: simple(0x09), cql: 'int', value: int(32), isKey: true },
  { type: simple(0x0b), cql: 'timestamp', value: timestamp, isKey: true },
  { type: simple(0x0c), cql: 'uuid', value: fc.uuid(), isKey: true },
  { type: simple(0x0d), cql: 'text', value: text, isKey: true },
  { type: simple(0x0e), cql: 'varint', value: varint, isKey: true },
  { type: simple(0x0f), cql: 'timeuuid', value: fc.uuid({ version: 1 }), isKey: true },
  { type: simple(0x10), cql: 'inet', value: address, isKey: true },
  {
    type: simple(0x11),
    cql: 'date',
    value: day.map((at) => at.toISOString().slice(0, 10)),
    isKey: true,
  },
  { type: simple(0x12), cql: 'time', value: time, isKey: true },
  { type: simple(0x13), cql: 'smallint', value: int(16), isKey: true },
  { type: simple(0x14), cql: 'tinyint', value: int(8), isKey: true },
  { type: custom(`${MARSHAL}.DurationType`), cql: 'duration', value: duration, isKey: false },
];

/** The element types of vectors that need no class name of their own. */
const VECTORS: readonly (readonly [className: string, typed: Typed])[] = [
  ['FloatType', SIMPLE[6]!],
  ['Int32Type', SIMPLE[7]!],
  ['LongType', SIMPLE[1]!],
  ['UTF8Type', SIMPLE[10]!],
  ['UUIDType', SIMPLE[9]!],
  ['ShortType', SIMPLE[16]!],
  ['DecimalType', SIMPLE[4]!],
];
const vector: fc.Arbitrary<Typed> = fc
  .tuple(fc.constantFrom(...VECTORS), fc.integer({ min: 1, max: 4 }))
  .map(([[className, { cql, value }], length]) => ({
    type: custom(`${MARSHAL}.VectorType(${MARSHAL}.${className} , ${length})`),
    cql: `vector<${cql}, ${length}>`,
    value: fc.array(value, { minLength: length, maxLength: length }),
    isKey: false,
  }));

const TEXTUAL: ReadonlySet<number> = new Set([0x01, 0x0c, 0x0d, 0x0f, 0x10, 0x11, 0x12]);
const unique = { selector: (item: unknown): string => shown(item) };

/** Returns a value as text, for comparisons. */
function shown(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'bigint' ? `${item}n` : item,
  );
}

/** In a collection a type is as it was made: `frozen`. */
const frozen = (cql: string): string =>
  /[<]|^ut_/.test(cql) && !cql.startsWith('vector') ? `frozen<${cql}>` : cql;

function listOf({ type, cql, value }: Typed): Typed {
  return {
    type: { code: 0x20, type: null, info: type },
    cql: `list<${frozen(cql)}>`,
    value: fc.array(value, { maxLength: 4 }),
    isKey: false,
  };
}

/** A set with at most one item, since Cassandra returns items in the order of their type. */
function setOf({ type, cql, value }: Typed): Typed {
  return {
    type: { code: 0x22, type: null, info: type },
    cql: `set<${frozen(cql)}>`,
    value: fc.array(value, { maxLength: 1 }),
    isKey: false,
  };
}

function mapOf(key: Typed, item: Typed): Typed {
  const entries = fc.uniqueArray(fc.tuple(key.value, item.value), {
    maxLength: 1,
    selector: ([of]) => unique.selector(of),
  });
  const isText = TEXTUAL.has(key.type.code);
  return {
    type: { code: 0x21, type: null, info: [key.type, item.type] },
    cql: `map<${frozen(key.cql)}, ${frozen(item.cql)}>`,
    value: isText ? entries.map((all) => toObjectKey(all as [string, unknown][])) : entries,
    isKey: false,
  };
}

function toObjectKey(entries: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return object;
}

function tupleOf(parts: readonly Typed[]): Typed {
  return {
    type: { code: 0x31, type: null, info: parts.map(({ type }) => type) },
    cql: `tuple<${parts.map(({ cql }) => frozen(cql)).join(', ')}>`,
    value: fc.tuple(...parts.map(({ value }) => fc.option(value, { freq: 5 }))),
    isKey: false,
  };
}

/**
 * Returns the name of the user-defined type with these fields in CQL. Equal fields lead to equal
 * names.
 */
function nameOfUserType(fields: readonly string[]): string {
  let hash = 7;
  for (const sign of fields.join()) hash = (hash * 31 + sign.charCodeAt(0)) % 2_147_483_647;
  return `ut_${hash}`;
}

function getUserTypeInfo(parts: readonly Typed[]): Typed {
  const name = nameOfUserType(parts.map(({ cql }) => cql));
  const fields = parts.map(({ type }, n) => ({ name: `f${n}`, type }));
  return {
    type: { code: 0x30, type: null, info: { keyspace: 'ks', name, fields } },
    cql: name,
    value: fc.record(
      Object.fromEntries(parts.map(({ value }, n) => [`f${n}`, fc.option(value, { freq: 5 })])),
    ),
    isKey: false,
  };
}

/**
 * Draws any type. `userTypes` collects the user-defined types that it needs; each type follows
 * those that it contains.
 */
export function anyType(
  userTypes: Map<string, readonly string[]> = new Map(),
): fc.Arbitrary<Typed> {
  const single = fc.constantFrom(...SIMPLE);
  const key = fc.constantFrom(...SIMPLE.filter(({ isKey }) => isKey));
  return fc.letrec<{ any: Typed }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 3, arbitrary: single },
      { weight: 1, arbitrary: vector },
      { weight: 1, arbitrary: tie('any').filter(isNoDuration).map(listOf) },
      { weight: 1, arbitrary: key.map(setOf) },
      { weight: 2, arbitrary: fc.tuple(key, tie('any')).map(([of, item]) => mapOf(of, item)) },
      { weight: 1, arbitrary: fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map(tupleOf) },
      {
        weight: 1,
        arbitrary: fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((parts) => {
          const made = getUserTypeInfo(parts);
          userTypes.set(
            made.cql,
            parts.map(({ cql }) => frozen(cql)),
          );
          return made;
        }),
      },
    ),
  })).any;
}

function isNoDuration({ cql }: Typed): boolean {
  return cql !== 'duration';
}

/** Every simple type once. */
export const simpleTypes: readonly Typed[] = SIMPLE;
