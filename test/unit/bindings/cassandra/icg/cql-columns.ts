/** Any CQL type with values of it, for tests. */
import cassandra from 'cassandra-driver';
import fc from 'fast-check';
import type { ColumnType } from '../../../../../src/bindings/cassandra/icg/columns.ts';

/** A type and the values of a column of it, as an application would give them. */
export interface TypedValues {
  readonly type: ColumnType;
  readonly values: readonly unknown[];
}

type ValuesOf = (count: number) => fc.Arbitrary<readonly unknown[]>;

const simple = (code: number): ColumnType => ({ code, type: null });
const custom = (info: string): ColumnType => ({ code: 0, type: null, info });

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 20 });
const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const blob = fc.uint8Array({ maxLength: 40 });
const date = fc.date({ min: new Date(0), max: new Date(2 ** 42), noInvalidDate: true });
const decimal = fc.tuple(fc.bigInt(), fc.nat(20)).map(([n, scale]) => `${n}.${'0'.repeat(scale)}1`);
const time = fc.tuple(fc.nat(23), fc.nat(59), fc.nat(59)).map((parts) => parts.map(two).join(':'));
const two = (part: number): string => String(part).padStart(2, '0');

const SIMPLE: readonly (readonly [ColumnType, fc.Arbitrary<unknown>])[] = [
  [simple(0x01), ascii],
  [simple(0x02), long],
  [simple(0x03), blob],
  [simple(0x04), fc.boolean()],
  [simple(0x05), long],
  [simple(0x06), decimal],
  [simple(0x07), fc.double({ noNaN: true })],
  [simple(0x08), fc.float({ noNaN: true })],
  [simple(0x09), fc.integer()],
  [simple(0x0b), date],
  [simple(0x0c), fc.uuid()],
  [simple(0x0d), text],
  [simple(0x0e), fc.bigInt()],
  [simple(0x0f), fc.uuid({ version: 1 })],
  [simple(0x10), fc.oneof(fc.ipV4(), fc.constant('::1'))],
  [simple(0x11), date.map((at) => at.toISOString().slice(0, 10))],
  [simple(0x12), time],
  [simple(0x13), fc.integer({ min: -32_768, max: 32_767 })],
  [simple(0x14), fc.integer({ min: -128, max: 127 })],
  [custom('org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)'), vector()],
];

/** The driver writes vectors of its own class only. */
function vector(): fc.Arbitrary<unknown> {
  const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 3, maxLength: 3 });
  return floats.map((elements) => new cassandra.types.Vector(elements, 'float'));
}

/** A type, and how to make values of it. */
const typed: fc.Arbitrary<{ readonly type: ColumnType; readonly value: fc.Arbitrary<unknown> }> = fc.letrec<{
  any: { readonly type: ColumnType; readonly value: fc.Arbitrary<unknown> };
}>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...SIMPLE).map(([type, value]) => ({ type, value })),
    fc.tuple(fc.constantFrom(0x20, 0x22), tie('any')).map(([code, { type, value }]) => ({
      type: { code, type: null, info: type },
      // The driver cannot write empty collections within others.
      value: fc.array(value, { minLength: 1, maxLength: 4 }),
    })),
    tie('any').map(({ type, value }) => ({
      type: { code: 0x21, type: null, info: [simple(0x0d), type] },
      value: fc.dictionary(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 5 }), value, {
        minKeys: 1,
        maxKeys: 3,
      }),
    })),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((parts) => ({
      type: {
        code: 0x30,
        type: null,
        info: { keyspace: 'ks', name: 'u', fields: parts.map(({ type }, n) => ({ name: `f${n}`, type })) },
      },
      value: fc.record(Object.fromEntries(parts.map(({ value }, n) => [`f${n}`, value]))),
    })),
  ),
})).any;

/** A few columns, each with the values of `rows` rows; null is one of them. */
export const tables: fc.Arbitrary<{ readonly rowCount: number; readonly columns: readonly TypedValues[] }> = fc
  .nat(4)
  .chain((rowCount) => {
    const valuesOf = (value: fc.Arbitrary<unknown>): ReturnType<ValuesOf> =>
      fc.array(fc.option(value, { freq: 6 }), { minLength: rowCount, maxLength: rowCount });
    const column = typed.chain(({ type, value }) => fc.record({ type: fc.constant(type), values: valuesOf(value) }));
    return fc.record({ rowCount: fc.constant(rowCount), columns: fc.array(column, { minLength: 1, maxLength: 5 }) });
  });
