/** The result of writes with a condition. */
import { PAGE_SIZE, type ResultShape } from './result-shapes.ts';

/**
 * Returns the shape whose result is whether a write has changed a row.
 *
 * @example
 * const sql = 'insert into users values (:name) on conflict do nothing';
 * const implementation = { sql, result: wasApplied() };
 */
export function wasApplied(): ResultShape<boolean> {
  return {
    kind: 'wasApplied',
    pageSize: PAGE_SIZE,
    versionColumn: undefined,
    buildResult: ({ changedRows = 0 }) => changedRows > 0,
  };
}
