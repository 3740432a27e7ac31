/**
 * Values as an application has them: what is read, what is written, and what is refused because
 * another would be kept.
 */
import cassandraDriver from 'cassandra-driver';
import { expect, test } from 'vitest';
import { cassandra, defineStatements, oneRow } from '../../../../src/bindings/cassandra/index.ts';
import type { CassandraDriver } from '../../../../src/bindings/cassandra/driver.ts';
import { ValueConverter } from '../../../../src/bindings/cassandra/value-converter.ts';
import { createClient } from '../../../../src/index.ts';
import { z } from 'zod';
import { fakeDriver } from './fake-driver.ts';

const values = new ValueConverter(cassandraDriver as unknown as CassandraDriver);
const simple = (code: number) => ({ code, type: null });
const TYPES = {
  ascii: simple(0x01),
  bigint: simple(0x02),
  blob: simple(0x03),
  boolean: simple(0x04),
  decimal: simple(0x06),
  double: simple(0x07),
  float: simple(0x08),
  int: simple(0x09),
  timestamp: simple(0x0b),
  uuid: simple(0x0c),
  text: simple(0x0d),
  varint: simple(0x0e),
  inet: simple(0x10),
  date: simple(0x11),
  time: simple(0x12),
  tinyint: simple(0x14),
  duration: { code: 0, type: null, info: 'org.apache.cassandra.db.marshal.DurationType' },
  vector: {
    code: 0,
    type: null,
    info: 'org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 2)',
  },
} as const;
const list = (of: object) => ({ code: 0x20, type: null, info: of });
const map = (key: object, item: object) => ({ code: 0x21, type: null, info: [key, item] });
const tuple = (...items: object[]) => ({ code: 0x31, type: null, info: items });
const place = {
  code: 0x30,
  type: null,
  info: { keyspace: 'ks', name: 'place', fields: [{ name: 'street', type: TYPES.text }] },
};

/** Objects of an application: neither plain nor the driver's. */
class Address {
  readonly street = 'High';
}
class Mistyped {
  readonly stret = 'High';
}
class Hidden {
  readonly #street = 'High';
  get street(): string {
    return this.#street;
  }
}
class HiddenMistyped {
  readonly #street = 'High';
  get stret(): string {
    return this.#street;
  }
}
const printing = (text: string): object => ({ __proto__: { toString: () => text } });
const { BigDecimal, Duration, InetAddress, Integer, LocalDate, LocalTime, Long, Uuid } =
  cassandraDriver.types;

const roundTrip = (value: unknown, type: object): unknown =>
  values.decode(
    values.encode(value, { name: 'x', type: type as never }) as Buffer | null,
    type as never,
  );

test.each([
  ['a decimal without zeros of its own', '1E+3', TYPES.decimal, '1E+3'],
  ['a decimal in scientific notation', '-2.5e-7', TYPES.decimal, '-2.5E-7'],
  ['a decimal with zeros behind the point', '12.50', TYPES.decimal, '12.50'],
  ['a decimal as a number', 0.1, TYPES.decimal, '0.1'],
  ['the largest bigint', 2n ** 63n - 1n, TYPES.bigint, 2n ** 63n - 1n],
  ['a bigint as text', '-12', TYPES.bigint, -12n],
  ['a varint of 200 bits', -(2n ** 200n), TYPES.varint, -(2n ** 200n)],
  [
    'a map of timestamps as a Map',
    new Map([
      [new Date(1250), 'a'],
      [new Date(1999), 'b'],
    ]),
    map(TYPES.timestamp, TYPES.text),
    [
      [new Date(1250), 'a'],
      [new Date(1999), 'b'],
    ],
  ],
  [
    'a map of booleans as pairs',
    [
      [false, 'no'],
      [true, 'yes'],
    ],
    map(TYPES.boolean, TYPES.text),
    [
      [false, 'no'],
      [true, 'yes'],
    ],
  ],
  ['a map of numbers as an object', { 7: 'x' }, map(TYPES.int, TYPES.text), [[7, 'x']]],
  ['a map of texts', { a: 'x' }, map(TYPES.text, TYPES.text), { a: 'x' }],
  ['an empty map of texts', {}, map(TYPES.text, TYPES.text), {}],
  ['an empty map of numbers', {}, map(TYPES.int, TYPES.text), []],
  ['an empty list in a list', [[], [1]], list(list(TYPES.int)), [[], [1]]],
  ['a tuple with null in it', [1, null], tuple(TYPES.int, TYPES.text), [1, null]],
  ['a duration', '1y11mo2d3h', TYPES.duration, '1y11mo2d3h'],
  ['a duration back in time', '-1us', TYPES.duration, '-1us'],
  ['a vector', [0.5, -2], TYPES.vector, [0.5, -2]],
  ['an address', 'fe80::1', TYPES.inet, 'fe80::1'],
  ['a date before our time', '-0044-03-15', TYPES.date, '-0044-03-15'],
  ['a date that no Date can hold, as it is read', '2147483647', TYPES.date, '2147483647'],
  [
    'a timestamp as text',
    '2024-02-29T10:00+02:00',
    TYPES.timestamp,
    new Date('2024-02-29T08:00:00Z'),
  ],
  ['a timestamp before our time', '-000044-03-15', TYPES.timestamp, new Date('-000044-03-15')],
  ['an infinite double', -Infinity, TYPES.double, -Infinity],
  ['a user-defined type without one of its fields', {}, place, { street: null }],
  ['a user-defined type of a class', new Address(), place, { street: 'High' }],
  ['a user-defined type of a class with accessors', new Hidden(), place, { street: 'High' }],
])('%s → written, and read as the same', (_, value, type, read) => {
  expect(roundTrip(value, type)).toEqual(read);
});

test.each([
  ['12,50', TYPES.decimal],
  ['abc', TYPES.decimal],
  ['', TYPES.decimal],
  [2n ** 64n + 5n, TYPES.bigint],
  ['12abc', TYPES.bigint],
  [2 ** 53 + 2, TYPES.bigint],
  [1.9, TYPES.int],
  [2n ** 40n, TYPES.int],
  ['1e3', TYPES.varint],
  [128, TYPES.tinyint],
  [1e300, TYPES.float],
  ['x', TYPES.double],
  ['false', TYPES.boolean],
  [1, TYPES.boolean],
  ['Ł', TYPES.ascii],
  [7, TYPES.text],
  ['00', TYPES.blob],
  ['2024-02-30', TYPES.date],
  [new Date(0), TYPES.date],
  ['24:00:00', TYPES.time],
  [new Date(Number.NaN), TYPES.timestamp],
  ['2024-01-01 10:00', TYPES.timestamp],
  ['11111111-2222-3333-4444-55555555555g', TYPES.uuid],
  ['1.2.3', TYPES.inet],
  ['3h2d', TYPES.duration],
  ['1000000000000mo', TYPES.duration],
  [[1], TYPES.vector],
  [[null], list(TYPES.int)],
  ['abc', list(TYPES.text)],
  [[1, 'x', 2], tuple(TYPES.int, TYPES.text)],
  [{ stret: 'High' }, place],
  [new Mistyped(), place],
  [new HiddenMistyped(), place],
  ['2024-02-30', TYPES.timestamp],
  ['2023-02-29T00:00:00Z', TYPES.timestamp],
  ['2024-04-31T10:00:00+02:00', TYPES.timestamp],
  ['-2024-06-01', TYPES.timestamp],
  ['12024-01-01', TYPES.timestamp],
  ['1e400', TYPES.double],
  ['-1e400', TYPES.float],
  ['20240229', TYPES.date],
  ['2147483648', TYPES.date],
  [BigDecimal.fromString('1.9'), TYPES.int],
  [Integer.fromString('1099511627776'), TYPES.int],
  [Long.fromString('9007199254740993'), TYPES.double],
  [printing('3.7'), TYPES.int],
  [printing('3'), TYPES.bigint],
  [printing('3'), TYPES.text],
  [new Number(1.9), TYPES.int],
  [new URL('http://a'), TYPES.text],
  [new Duration(1, -2, 0), TYPES.duration],
  [new Mistyped(), map(TYPES.text, TYPES.text)],
  [Object.create(null), TYPES.int],
  // oxlint-disable-next-line no-sparse-arrays
  [[1, , 2], list(TYPES.int)],
  [{ true: 'x' }, map(TYPES.boolean, TYPES.text)],
  [
    new Map([
      [new Date(1), 'a'],
      [new Date(1), 'b'],
    ]),
    map(TYPES.timestamp, TYPES.text),
  ],
])(
  '%s, which its column does not take (%#) → refused, where something else would be kept',
  (value, type) => {
    expect(() => values.encode(value, { name: 'x', type: type as never })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.x', retryable: false }),
    );
  },
);

test('a type that the protocol names by a class → seen through: what is in it, and its fields', () => {
  const MARSHAL = 'org.apache.cassandra.db.marshal.';
  const hex = (name: string): string => Buffer.from(name).toString('hex');
  const field = `${hex('street')}:${MARSHAL}UTF8Type`;
  const user = `${MARSHAL}FrozenType(${MARSHAL}UserType(ks,${hex('place')},${field}))`;
  const nested = `${MARSHAL}MapType(${MARSHAL}Int32Type,${MARSHAL}SetType(${MARSHAL}LongType))`;
  const type = (of: string) => ({ code: 0, type: null, info: `${MARSHAL}VectorType(${of} , 1)` });
  expect(roundTrip([{ street: 'High' }], type(user))).toEqual([{ street: 'High' }]);
  expect(roundTrip([[[1, [2n]]]], type(nested))).toEqual([[[1, [2n]]]]);
  expect(() => values.encode([{ stret: 'High' }], { name: 'x', type: type(user) })).toThrow(
    /place: there is no field 'stret'/,
  );
  expect(() => values.encode(['x'], { name: 'x', type: type(`${MARSHAL}UnheardOfType`) })).toThrow(
    /custom: bytes are due/,
  );
});

test('a key __proto__ → a key like others', () => {
  const type = map(TYPES.text, map(TYPES.text, TYPES.text)) as never;
  const value = new Map([['__proto__', new Map([['isAdmin', 'true']])]]);
  const read = roundTrip(value, type) as object;
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  expect(Object.entries(read)).toEqual([['__proto__', { isAdmin: 'true' }]]);
});

test('a blob of a large answer → its own bytes only', () => {
  const answer = Buffer.alloc(1 << 20);
  const blob = values.decode(answer.subarray(1_000, 1_004), TYPES.blob) as Uint8Array;
  expect([blob.length, blob.buffer.byteLength]).toEqual([4, 4]);
});

test('a timestamp that a Date cannot hold → an error: two of them would look the same', () => {
  const bytes = values.encode(8_640_000_000_000_001n, {
    name: 'x',
    type: TYPES.timestamp,
  }) as Buffer;
  expect(() => values.decode(bytes, TYPES.timestamp)).toThrow(
    expect.objectContaining({ code: 'INVALID_VALUE' }),
  );
});

test("values of the driver's own classes → taken where they fit", () => {
  const { types } = cassandraDriver;
  const id = types.Uuid.random();
  expect(roundTrip(id, TYPES.uuid)).toBe(String(id));
  expect(
    roundTrip(new types.Tuple(1, types.Long.fromNumber(2)), tuple(TYPES.int, TYPES.bigint)),
  ).toEqual([1, 2n]);
  expect(roundTrip([id], list(TYPES.uuid))).toEqual([String(id)]);
  expect(() => values.encode(id, { name: 'x', type: TYPES.text })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
  );
  expect(() => values.encode(id, { name: 'x', type: TYPES.int })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
  );
  expect(() => values.encode(id, { name: 'x', type: TYPES.boolean })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
  );
});

test.each([
  [Long.fromString('-9007199254740993'), TYPES.bigint, -9007199254740993n],
  [Integer.fromString('1099511627776'), TYPES.varint, 1099511627776n],
  [BigDecimal.fromString('12.50'), TYPES.decimal, '12.50'],
  [LocalDate.fromString('2024-02-29'), TYPES.date, '2024-02-29'],
  // Its types know of years only.
  [Reflect.construct(LocalDate, [2147483647]) as object, TYPES.date, '2147483647'],
  [LocalTime.fromString('10:20:30.5'), TYPES.time, '10:20:30.5'],
  [InetAddress.fromString('10.0.0.1'), TYPES.inet, '10.0.0.1'],
  [Duration.fromString('1mo2d3h'), TYPES.duration, '1mo2d3h'],
  [
    Uuid.fromString('11111111-2222-4333-8444-555555555555'),
    TYPES.uuid,
    '11111111-2222-4333-8444-555555555555',
  ],
])("the driver's %o → the bytes that the driver writes", (value, type, read) => {
  const { Encoder } = cassandraDriver as unknown as CassandraDriver;
  expect(values.encode(value, { name: 'x', type: type })).toEqual(
    new Encoder!(4, {}).encode(value, type),
  );
  expect(roundTrip(value, type)).toEqual(read);
});

const statements = defineStatements({
  price: {
    access: 'write',
    cql: 'UPDATE goods SET price = :price WHERE id = :id',
    args: z.object({ id: z.string(), price: z.unknown() }),
    isIdempotent: true,
  },
  look: {
    access: 'read',
    cql: 'SELECT price FROM goods WHERE id = :id',
    args: z.object({ id: z.string() }),
    result: oneRow((row) => row['price']),
  },
});

test('way 1: the driver has the types of the markers → values are written by them, also after it has prepared again', async () => {
  const fake = fakeDriver();
  const columns = [
    { name: 'price', type: TYPES.decimal as object },
    { name: 'id', type: TYPES.text },
  ];
  const info = { meta: undefined as object | undefined };
  fake.metadata = { getPreparedInfo: () => info };
  const client = createClient(
    cassandra({ contactPoints: ['a'], keyspace: 'shop', driver: fake.driver, statements }),
  );
  const made = client.invoke(statements.price({ id: 'x', price: '1E+3' }));
  const sent = await fake.next();
  info.meta = { columns };
  expect(sent.params).toEqual([Buffer.from([255, 255, 255, 253, 1]), Buffer.from('x')]);
  columns[0]!.type = TYPES.varint;
  expect(() => sent.params[0]).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'args.price' }),
  );
  sent.answer();
  await made;
});

test('way 1: one replica has 1000, a quorum 10000 → corrected, not confirmed', async () => {
  const { types } = cassandraDriver;
  const decimal = (scale: number) =>
    new types.BigDecimal(types.Integer.fromNumber(1) as unknown as number, scale);
  const fake = fakeDriver();
  const client = createClient(
    cassandra({ contactPoints: ['a'], keyspace: 'shop', driver: fake.driver, statements }),
  );
  const read = client.invoke(statements.look({ id: 'x' }));
  const reads = [await fake.next(), await fake.next()];
  reads
    .find(({ consistency }) => consistency === 'ONE')
    ?.answer({ rows: [{ price: decimal(-3) }] });
  await read.when('weak');
  reads
    .find(({ consistency }) => consistency === 'QUORUM')
    ?.answer({ rows: [{ price: decimal(-4) }] });
  expect(await read.settle()).toMatchObject({ value: '1E+4', confirms: false });
});
