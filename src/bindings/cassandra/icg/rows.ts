/** Rows from the bytes of a result. */
import type { Page, Row } from '../read-path.ts';
import type { Column } from './columns.ts';
import { protocolError } from './cql-error.ts';
import type { RawRows } from './responses.ts';
import type { CqlValues } from './values.ts';

const LENGTH_BYTES = 4;

/** Whether a result that came without columns has as many as the statement had when it was prepared. */
export function fits({ metadata }: RawRows, known: readonly Column[]): boolean {
  return metadata.columns !== undefined || metadata.columnCount === known.length;
}

/**
 * Reads the values.
 *
 * @param known the columns that the statement was prepared with: those of a result that comes without
 * @throws CqlError `PROTOCOL` for what are no rows of these columns
 */
export function readPage({ metadata, rowCount, reader }: RawRows, known: readonly Column[], values: CqlValues): Page {
  const columns = metadata.columns ?? known;
  reader.checkCount(rowCount, Math.max(1, LENGTH_BYTES * columns.length));
  const rows: Row[] = [];
  for (let n = 0; n < rowCount; n += 1) {
    const row: Record<string, unknown> = {};
    for (const column of columns) row[column.name] = decoded(reader.bytes(), column, values);
    rows.push(row);
  }
  return { rows, pageState: metadata.pageState?.toString('hex') };
}

function decoded(bytes: Buffer | null, { name, type }: Column, values: CqlValues): unknown {
  try {
    return values.decode(bytes, type);
  } catch (cause) {
    throw protocolError(`the value of column "${name}" is none of its type: ${String(cause)}`, cause);
  }
}
