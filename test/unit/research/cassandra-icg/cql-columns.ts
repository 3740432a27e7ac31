/** A few columns of any CQL types with values of them, for tests. */
import fc from 'fast-check';
import type { ColumnType } from '../../../../src/research/cassandra-icg/columns.ts';
import { anyType } from '../../../support/cql-types.ts';

/** A type and the values of a column of it, as an application would give them. */
export interface TypedValues {
  readonly type: ColumnType;
  readonly values: readonly unknown[];
}

/** A few columns, each with the values of `rows` rows; null is one of them. */
export const tables: fc.Arbitrary<{
  readonly rowCount: number;
  readonly columns: readonly TypedValues[];
}> = fc.nat(4).chain((rowCount) => {
  const column = anyType().chain(({ type, value }) => {
    const values = fc.array(fc.option(value, { freq: 6 }), {
      minLength: rowCount,
      maxLength: rowCount,
    });
    return fc.record({ type: fc.constant(type), values });
  });
  return fc.record({
    rowCount: fc.constant(rowCount),
    columns: fc.array(column, { minLength: 1, maxLength: 5 }),
  });
});
