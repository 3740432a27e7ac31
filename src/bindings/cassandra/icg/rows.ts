/** Rows from the bytes of a result. */
import { isCorrectableError } from '../../../correctable/errors.ts';
import { setOwn } from '../cql/reading.ts';
import type { Page, Row } from '../read-path.ts';
import type { Column } from './columns.ts';
import { protocolError } from './cql-error.ts';
import type { RawRows } from './responses.ts';
import type { CqlValues } from './values.ts';

const LENGTH_BYTES = 4;

/**
 * Reads the values, as what the answer itself says of its columns: those that a statement was prepared with may have been
 * dropped and made anew as others, and version 4 of the protocol does not tell.
 *
 * @throws CqlError `PROTOCOL` for what are no rows
 */
export function readPage({ metadata, rowCount, reader }: RawRows, values: CqlValues): Page {
  const { columns } = metadata;
  if (columns === undefined) throw protocolError('rows without their columns, which nobody asked to leave out');
  reader.checkCount(rowCount, Math.max(1, LENGTH_BYTES * columns.length));
  const rows: Row[] = [];
  for (let n = 0; n < rowCount; n += 1) {
    const row: Record<string, unknown> = {};
    for (const column of columns) setOwn(row, column.name, decoded(reader.bytes(), column, values));
    rows.push(row);
  }
  return { rows, pageState: metadata.pageState?.toString('hex') };
}

function decoded(bytes: Buffer | null, { name, type }: Column, values: CqlValues): unknown {
  try {
    return values.decode(bytes, type);
  } catch (cause) {
    if (isCorrectableError(cause)) throw cause;
    throw protocolError(`the value of column "${name}" is none of its type: ${String(cause)}`, cause);
  }
}
