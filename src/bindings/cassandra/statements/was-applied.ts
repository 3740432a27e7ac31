/** The result of conditional writes. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { PAGE_SIZE, type ResultShape } from '../../shared/statements/result-shapes.ts';

/**
 * Returns the shape whose result is whether a conditional write (`IF …`) was applied.
 *
 * @example
 * implement: { cql: 'INSERT INTO users (name) VALUES (:name) IF NOT EXISTS', result: wasApplied() }
 */
export function wasApplied(): ResultShape<boolean> {
  return {
    kind: 'wasApplied',
    pageSize: PAGE_SIZE,
    versionColumn: undefined,
    buildResult({ rows: [row] }, name) {
      const isApplied = row?.['[applied]'];
      if (typeof isApplied === 'boolean') return isApplied;
      throw new CorrectableError(
        'INVALID_VALUE',
        `${name}: wasApplied() is for writes with IF, and this one has none`,
      );
    },
  };
}
